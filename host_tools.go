package sayso

// geminiTools are the built-in tools of Gemini CLI, as of 0.61.0. web_fetch is
// not among them: its addresses stand in a text that is written for a model. A
// command that names its own directory has more arguments, and is asked about.
var geminiTools = map[string]Tool{
	"run_shell_command": {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand,
		Args: []string{"command", "description", "is_background", "delay_ms"}},
	"read_file": {Name: "file-read", Kind: KindRead, Primary: "file_path", Operand: OperandPath,
		Args: []string{"file_path", "start_line", "end_line"}},
	"write_file": {Name: "file-write", Kind: KindWrite, Primary: "file_path", Operand: OperandPath,
		Args: []string{"file_path", "content"}},
	"replace": {Name: "file-edit", Kind: KindEdit, Primary: "file_path", Operand: OperandPath,
		Args: []string{"file_path", "instruction", "old_string", "new_string", "allow_multiple"}},
	"list_directory": {Name: "file-list", Kind: KindList, Primary: "dir_path", Operand: OperandPath,
		Args: []string{"dir_path", "ignore", "file_filtering_options"}},
	"glob": {Name: "file-list", Kind: KindList, Primary: "dir_path", Operand: OperandPath, Optional: true, Narrow: []string{"pattern"},
		Args: []string{"pattern", "dir_path", "case_sensitive", "respect_git_ignore", "respect_gemini_ignore"}},
	"grep_search": {Name: "file-search", Kind: KindSearch, Primary: "dir_path", Operand: OperandPath, Optional: true, Narrow: []string{"include_pattern"},
		Args: []string{"pattern", "dir_path", "include_pattern", "exclude_pattern", "names_only", "max_matches_per_file", "total_max_matches"}},
	"google_web_search": {Name: "web-search", Kind: KindOther, Primary: "query", Operand: OperandText,
		Args: []string{"query"}},
	"invoke_agent": {Name: "delegate", Kind: KindDelegate, Primary: "prompt", Operand: OperandText,
		Args: []string{"agent_name", "prompt", "wait_for_previous"}},

	"write_todos": {Name: "todo-write", Kind: KindOther, Bookkeeping: true, Args: []string{"todos"}},
	"update_topic": {Name: "update-topic", Kind: KindOther, Bookkeeping: true,
		Args: []string{"title", "summary", "strategic_intent", "wait_for_previous"}},
	"list_background_processes": {Name: "list-tasks", Kind: KindOther, Bookkeeping: true, Args: []string{"wait_for_previous"}},
	"read_background_output": {Name: "task-output", Kind: KindOther, Bookkeeping: true,
		Args: []string{"pid", "lines", "delay_ms", "wait_for_previous"}},
	"enter_plan_mode": {Name: "enter-plan-mode", Kind: KindOther, Bookkeeping: true, Args: []string{"reason"}},
	"complete_task":   {Name: "complete-task", Kind: KindOther, Bookkeeping: true}, // how an agent of the host hands its result back

	"ask_user":       {Name: "ask-user-question", Kind: KindOther, OwnScreen: true},
	"exit_plan_mode": {Name: "exit-plan-mode", Kind: KindOther, OwnScreen: true},
}

// copilotTools are the built-in tools of GitHub's Copilot CLI, as of 1.0.102. A
// command in a shell that was started earlier has more arguments, and is asked
// about: it may stand in another directory.
var copilotTools = map[string]Tool{
	"bash": {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand,
		Args: []string{"command", "description", "mode", "detach", "initial_wait"}},
	"powershell": {Name: "powershell", Kind: KindShell, Primary: "command", Operand: OperandText,
		Args: []string{"command", "description", "mode", "detach", "initial_wait"}},
	"view": {Name: "file-read", Kind: KindRead, Primary: "path", Operand: OperandPath,
		Args: []string{"path", "view_range", "forceReadLargeFiles"}},
	"create": {Name: "file-write", Kind: KindWrite, Primary: "path", Operand: OperandPath,
		Args: []string{"path", "file_text"}},
	"edit": {Name: "file-edit", Kind: KindEdit, Primary: "path", Operand: OperandPath,
		Args: []string{"path", "old_str", "new_str"}},
	"apply_patch": patchTool("input"),
	"glob": {Name: "file-list", Kind: KindList, Primary: "paths", Operand: OperandPath, Optional: true, Narrow: []string{"pattern"},
		Args: []string{"pattern", "paths"}},
	"grep": {Name: "file-search", Kind: KindSearch, Primary: "paths", Operand: OperandPath, Optional: true, Narrow: []string{"glob"},
		Args: []string{"pattern", "paths", "glob", "type", "output_mode", "head_limit", "multiline", "-A", "-B", "-C", "-i", "-n"}},
	"web_fetch": {Name: "web-fetch", Kind: KindFetch, Primary: "url", Operand: OperandURL,
		Args: []string{"url", "max_length", "start_index", "raw"}},
	"web_search": {Name: "web-search", Kind: KindOther, Primary: "query", Operand: OperandText,
		Args: []string{"query"}},
	"task": {Name: "delegate", Kind: KindDelegate, Primary: "prompt", Operand: OperandText,
		Args: []string{"prompt", "description", "agent_type", "name", "model", "reasoning_effort", "context_tier", "mode"}},

	"read_bash":   {Name: "task-output", Kind: KindOther, Bookkeeping: true, Args: []string{"shellId", "delay"}},
	"stop_bash":   {Name: "task-stop", Kind: KindOther, Bookkeeping: true, Args: []string{"shellId"}},
	"list_bash":   {Name: "list-tasks", Kind: KindOther, Bookkeeping: true, Args: []string{}},
	"list_agents": {Name: "list-agents", Kind: KindOther, Bookkeeping: true, Args: []string{"include_completed", "scope"}},
	"read_agent": {Name: "read-agent", Kind: KindOther, Bookkeeping: true,
		Args: []string{"agent_id", "wait", "timeout", "since_turn"}},
}

// opencodeTools are the built-in tools of opencode, as of 1.18.33. A command that
// names its own directory has more arguments, and is asked about. The tools that
// read from MCP servers, load a skill or ask a language server are not here, and
// are asked about.
var opencodeTools = map[string]Tool{
	"bash": {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand,
		Args: []string{"command", "description", "timeout"}},
	"read": {Name: "file-read", Kind: KindRead, Primary: "filePath", Operand: OperandPath,
		Args: []string{"filePath", "offset", "limit"}},
	"write": {Name: "file-write", Kind: KindWrite, Primary: "filePath", Operand: OperandPath,
		Args: []string{"filePath", "content"}},
	"edit": {Name: "file-edit", Kind: KindEdit, Primary: "filePath", Operand: OperandPath,
		Args: []string{"filePath", "oldString", "newString", "replaceAll"}},
	"apply_patch": patchTool("patchText"),
	"glob": {Name: "file-list", Kind: KindList, Primary: "path", Operand: OperandPath, Optional: true, Narrow: []string{"pattern"},
		Args: []string{"pattern", "path"}},
	"grep": {Name: "file-search", Kind: KindSearch, Primary: "path", Operand: OperandPath, Optional: true, Narrow: []string{"include"},
		Args: []string{"pattern", "path", "include"}},
	"webfetch": {Name: "web-fetch", Kind: KindFetch, Primary: "url", Operand: OperandURL,
		Args: []string{"url", "format", "timeout"}},
	"websearch": {Name: "web-search", Kind: KindOther, Primary: "query", Operand: OperandText,
		Args: []string{"query", "numResults", "livecrawl", "type", "contextMaxCharacters"}},
	"task": {Name: "delegate", Kind: KindDelegate, Primary: "prompt", Operand: OperandText,
		Args: []string{"prompt", "description", "subagent_type", "task_id", "command"}, Attaches: true},

	"todowrite": {Name: "todo-write", Kind: KindOther, Bookkeeping: true, Args: []string{"todos"}},
	"invalid":   {Name: "invalid-call", Kind: KindOther, Bookkeeping: true, Args: []string{"tool", "error"}}, // how the host tells its model of a call that it cannot read

	"question": {Name: "ask-user-question", Kind: KindOther, OwnScreen: true},
}

// cursorTools are tools of Cursor that its documentation names. It says the
// arguments of the shell's alone; one of the others that has more than are listed
// here is asked about.
var cursorTools = map[string]Tool{
	"Shell": {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand,
		Args: []string{"command"}},
	"Read": {Name: "file-read", Kind: KindRead, Primary: "file_path", Operand: OperandPath,
		Args: []string{"file_path", "offset", "limit"}},
	"Write": {Name: "file-write", Kind: KindWrite, Primary: "file_path", Operand: OperandPath,
		Args: []string{"file_path", "content"}},
	"Delete": {Name: "file-delete", Kind: KindDelete, Primary: "file_path", Operand: OperandPath,
		Args: []string{"file_path"}},
	"Task": {Name: "delegate", Kind: KindDelegate, Primary: "prompt", Operand: OperandText,
		Args: []string{"prompt", "description", "subagent_type"}},
}

// vscodeTools are tools of VS Code's own agent harness, as documented. Its
// terminal is whatever shell the person has, in whatever directory it was left,
// so a line in it is no line of bash. Tools that take several files at once are
// not here, and are asked about.
var vscodeTools = map[string]Tool{
	"run_in_terminal": {Name: "run-in-terminal", Kind: KindShell, Primary: "command", Operand: OperandText,
		Args: []string{"command", "explanation"}},
	"read_file": {Name: "file-read", Kind: KindRead, Primary: "filePath", Operand: OperandPath,
		Args: []string{"filePath", "startLine", "endLine"}},
	"create_file": {Name: "file-write", Kind: KindWrite, Primary: "filePath", Operand: OperandPath,
		Args: []string{"filePath", "content"}},
	"replace_string_in_file": {Name: "file-edit", Kind: KindEdit, Primary: "filePath", Operand: OperandPath,
		Args: []string{"filePath", "oldString", "newString", "explanation"}},
	"apply_patch": patchTool("input", "explanation"),
	"list_dir": {Name: "file-list", Kind: KindList, Primary: "path", Operand: OperandPath,
		Args: []string{"path"}},
}

// antigravityTools are tools of Antigravity's CLI, as others saw them.
var antigravityTools = map[string]Tool{
	"run_command": {Name: "bash", Kind: KindShell, Primary: "CommandLine", Operand: OperandCommand,
		Args: []string{"CommandLine", "Cwd"}},
	"view_file": {Name: "file-read", Kind: KindRead, Primary: "AbsolutePath", Operand: OperandPath,
		Args: []string{"AbsolutePath", "StartLine", "EndLine"}},
	"write_to_file": {Name: "file-write", Kind: KindWrite, Primary: "TargetFile", Operand: OperandPath,
		Args: []string{"TargetFile", "CodeContent"}},
}
