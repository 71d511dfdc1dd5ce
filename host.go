package sayso

import (
	"maps"
	"slices"
)

// hostTools says, host by host, which canonical tool a host's own tool is and
// which of its arguments rules match on. How the host's payloads are read is
// the adapter's business; see package agent/claudecode.
var hostTools = map[string]map[string]Tool{
	HostACP:       acpTools,
	"antigravity": antigravityTools,
	"claude-code": claudeCodeTools,
	"codex":       codexTools,
	"copilot":     copilotTools,
	"cursor":      cursorTools,
	"gemini":      geminiTools,
	"opencode":    opencodeTools,
	"vscode":      vscodeTools,
}

// HostACP is the host of calls that come through the relay between an editor and an
// agent, which speak the Agent Client Protocol.
const HostACP = "acp"

// HostTools returns the names in the table of a host, sorted; nil for a host
// that has none.
func HostTools(host string) []string { return slices.Sorted(maps.Keys(hostTools[host])) }

// codexTools are the tools of Codex as its hooks name them, as of 0.169.0, and
// exec_command, as its model calls what is Bash there. A command that names its
// own directory or asks to be run outside of Codex's confinement has more
// arguments, and is asked about.
var codexTools = map[string]Tool{
	"exec_command": {Name: "bash", Kind: KindShell, Primary: "cmd", Operand: OperandCommand,
		Args: []string{"cmd", "yield_time_ms", "max_output_tokens"}},
	"Bash": {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand,
		Args: []string{"command"}},
	"apply_patch": patchTool("command"),
	"view_image": {Name: "file-read", Kind: KindRead, Primary: "path", Operand: OperandPath,
		Args: []string{"path", "detail"}},

	"collaborationspawn_agent": {Name: "delegate", Kind: KindDelegate, Primary: "message", Operand: OperandText,
		Args: []string{"message", "task_name", "fork_turns", "model", "reasoning_effort", "agent_type"}},
	"collaborationfollowup_task": {Name: "delegate", Kind: KindDelegate, Primary: "message", Operand: OperandText,
		Args: []string{"message", "target"}},
	"collaborationsend_message": {Name: "delegate", Kind: KindDelegate, Primary: "message", Operand: OperandText,
		Args: []string{"message", "target"}},
	"collaborationlist_agents":     {Name: "list-agents", Kind: KindOther, Bookkeeping: true, Args: []string{"path_prefix"}},
	"collaborationwait_agent":      {Name: "task-output", Kind: KindOther, Bookkeeping: true, Args: []string{"timeout_ms"}},
	"collaborationinterrupt_agent": {Name: "task-stop", Kind: KindOther, Bookkeeping: true, Args: []string{"target"}},

	"update_plan":    {Name: "todo-write", Kind: KindOther, Bookkeeping: true, Args: []string{"plan", "explanation"}},
	"create_goal":    {Name: "task-create", Kind: KindOther, Bookkeeping: true, Args: []string{"objective", "token_budget"}},
	"get_goal":       {Name: "task-view", Kind: KindOther, Bookkeeping: true, Args: []string{}},
	"update_goal":    {Name: "task-update", Kind: KindOther, Bookkeeping: true, Args: []string{"status"}},
	"clockcurr_time": {Name: "clock", Kind: KindOther, Bookkeeping: true, Args: []string{}},
	"clocksleep":     {Name: "sleep", Kind: KindOther, Bookkeeping: true, Args: []string{"duration_ms"}},

	"request_user_input":       {Name: "ask-user-question", Kind: KindOther, OwnScreen: true},
	"request_user_input_async": {Name: "ask-user-question", Kind: KindOther, OwnScreen: true},
}

// claudeCodeTools are the built-in tools of Claude Code, as of 2.1.330. A tool
// that is not here is of kind other, and is asked about.
var claudeCodeTools = map[string]Tool{
	"Bash": {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand,
		Args: []string{"command", "description", "timeout", "run_in_background"}},
	"PowerShell": {Name: "powershell", Kind: KindShell, Primary: "command", Operand: OperandText,
		Args: []string{"command", "description", "timeout", "run_in_background"}},
	"Monitor": {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand, Optional: true, // as its own rules for Bash are about it
		Args: []string{"command", "description", "timeout_ms"}},
	"Read": {Name: "file-read", Kind: KindRead, Primary: "file_path", Operand: OperandPath,
		Args: []string{"file_path", "offset", "limit", "pages", "allow_large"}},
	"Write": {Name: "file-write", Kind: KindWrite, Primary: "file_path", Operand: OperandPath,
		Args: []string{"file_path", "content"}},
	"Edit": {Name: "file-edit", Kind: KindEdit, Primary: "file_path", Operand: OperandPath,
		Args: []string{"file_path", "old_string", "new_string", "replace_all"}},
	"NotebookEdit": {Name: "file-edit", Kind: KindEdit, Primary: "notebook_path", Operand: OperandPath,
		Args: []string{"notebook_path", "new_source", "cell_id", "cell_type", "edit_mode"}},
	"Glob": {Name: "file-list", Kind: KindList, Primary: "path", Operand: OperandPath, Optional: true, Narrow: []string{"pattern"},
		Args: []string{"path", "pattern"}},
	"Grep": {Name: "file-search", Kind: KindSearch, Primary: "path", Operand: OperandPath, Optional: true, Narrow: []string{"glob"},
		Args: []string{"path", "pattern", "glob", "type", "output_mode", "head_limit", "offset", "context", "multiline",
			"-A", "-B", "-C", "-i", "-n", "-o"}},
	"WebFetch": {Name: "web-fetch", Kind: KindFetch, Primary: "url", Operand: OperandURL,
		Args: []string{"url", "prompt", "offset"}},
	"WebSearch": {Name: "web-search", Kind: KindOther, Primary: "query", Operand: OperandText,
		Args: []string{"query", "allowed_domains", "blocked_domains"}},
	"Agent": {Name: "delegate", Kind: KindDelegate, Primary: "prompt", Operand: OperandText,
		Args: []string{"prompt", "description", "subagent_type", "model", "run_in_background", "isolation", "mode", "name", "team_name", "effort"}},
	"Task": {Name: "delegate", Kind: KindDelegate, Primary: "prompt", Operand: OperandText,
		Args: []string{"prompt", "description", "subagent_type", "model", "run_in_background", "isolation", "mode", "name", "team_name", "effort"}},

	"TodoWrite":  {Name: "todo-write", Kind: KindOther, Bookkeeping: true, Args: []string{"todos"}},
	"TaskCreate": {Name: "task-create", Kind: KindOther, Bookkeeping: true, Args: []string{"subject", "description", "activeForm", "metadata"}},
	"TaskList":   {Name: "task-list", Kind: KindOther, Bookkeeping: true, Args: []string{}},
	"TaskUpdate": {Name: "task-update", Kind: KindOther, Bookkeeping: true,
		Args: []string{"taskId", "subject", "description", "activeForm", "status", "owner", "addBlocks", "addBlockedBy", "metadata"}},
	"TaskGet":        {Name: "task-view", Kind: KindOther, Bookkeeping: true, Args: []string{"taskId"}},
	"TaskStop":       {Name: "task-stop", Kind: KindOther, Bookkeeping: true, Args: []string{"task_id", "shell_id"}},
	"TaskOutput":     {Name: "task-output", Kind: KindOther, Bookkeeping: true, Args: []string{"task_id", "block", "timeout"}},
	"BashOutput":     {Name: "task-output", Kind: KindOther, Bookkeeping: true, Args: []string{"bash_id", "filter"}}, // of older releases
	"KillShell":      {Name: "task-stop", Kind: KindOther, Bookkeeping: true, Args: []string{"shell_id"}},            // of older releases
	"EnterPlanMode":  {Name: "enter-plan-mode", Kind: KindOther, Bookkeeping: true, Args: []string{}},
	"ToolSearch":     {Name: "tool-search", Kind: KindOther, Bookkeeping: true, Args: []string{"query", "max_results"}},
	"CronList":       {Name: "cron-list", Kind: KindOther, Bookkeeping: true, Args: []string{}},
	"ListAgents":     {Name: "list-agents", Kind: KindOther, Bookkeeping: true, Args: []string{"channel", "cursor", "q"}},
	"ReportFindings": {Name: "report-findings", Kind: KindOther, Bookkeeping: true, Args: []string{"findings", "level"}},

	"AskUserQuestion": {Name: "ask-user-question", Kind: KindOther, OwnScreen: true},
	"ExitPlanMode":    {Name: "exit-plan-mode", Kind: KindOther, OwnScreen: true},
}

// acpTools are the kinds of calls in the Agent Client Protocol, which names no tools,
// as package agent/acp shows them. Which shell reads a command no agent says; those
// that were run hand it to bash, or to a shell that reads it alike. What is searched
// or moved agents spell too differently to be understood: such calls are of kind
// other.
var acpTools = map[string]Tool{
	"execute": {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand,
		Args: []string{"command", "commands", "timeout", "mode", "detach", "initial_wait", "run_in_background"}},
	"read":   {Name: "file-read", Kind: KindRead, Primary: "path", Operand: OperandPath},
	"edit":   {Name: "file-edit", Kind: KindEdit, Primary: "path", Operand: OperandPath},
	"delete": {Name: "file-delete", Kind: KindDelete, Primary: "path", Operand: OperandPath},
	"fetch": {Name: "web-fetch", Kind: KindFetch, Primary: "url", Operand: OperandURL,
		Args: []string{"url", "prompt", "timeout", "format"}},
	// What an agent has its editor do. The line of a command says all that may run.
	"fs/write_text_file": {Name: "file-write", Kind: KindWrite, Primary: "path", Operand: OperandPath, Args: []string{"path", "content"}},
	"fs/read_text_file":  {Name: "file-read", Kind: KindRead, Primary: "path", Operand: OperandPath, Args: []string{"path", "line", "limit"}},
	"terminal/create":    {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand, Args: []string{"command"}},
	// A call of which the agent shows no input: what is missing cannot be judged.
	"unseen": {Name: "unseen", Kind: KindOther, Primary: "input", Operand: OperandText},
}
