package sayso

// hostTools says, host by host, which canonical tool a host's own tool is and
// which of its arguments rules match on. How the host's arguments are read is
// the adapter's business; see package agent/claudecode.
var hostTools = map[string]map[string]Tool{
	"claude-code": claudeCodeTools,
}

// HostTools returns the names in the table of a host; nil for a host that has
// none.
func HostTools(host string) []string {
	var names []string
	for name := range hostTools[host] {
		names = append(names, name)
	}
	return names
}

// claudeCodeTools are the built-in tools of Claude Code.
var claudeCodeTools = map[string]Tool{
	"Bash":         {Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand},
	"PowerShell":   {Name: "powershell", Kind: KindShell, Primary: "command", Operand: OperandText},
	"Monitor":      {Name: "monitor", Kind: KindShell, Primary: "command", Operand: OperandText, Optional: true},
	"Read":         {Name: "file-read", Kind: KindRead, Primary: "file_path", Operand: OperandPath},
	"Write":        {Name: "file-write", Kind: KindWrite, Primary: "file_path", Operand: OperandPath},
	"Edit":         {Name: "file-edit", Kind: KindEdit, Primary: "file_path", Operand: OperandPath},
	"NotebookEdit": {Name: "file-edit", Kind: KindEdit, Primary: "notebook_path", Operand: OperandPath},
	"Glob":         {Name: "file-list", Kind: KindList, Primary: "path", Operand: OperandPath, Optional: true},
	"Grep":         {Name: "file-search", Kind: KindSearch, Primary: "path", Operand: OperandPath, Optional: true},
	"WebFetch":     {Name: "web-fetch", Kind: KindFetch, Primary: "url", Operand: OperandURL},
	"WebSearch":    {Name: "web-search", Kind: KindOther, Primary: "query", Operand: OperandText},
	"Agent":        {Name: "delegate", Kind: KindDelegate, Primary: "prompt", Operand: OperandText},
	"Task":         {Name: "delegate", Kind: KindDelegate, Primary: "prompt", Operand: OperandText},

	"TodoWrite":     {Name: "todo-write", Kind: KindOther, Bookkeeping: true},
	"TaskCreate":    {Name: "task-create", Kind: KindOther, Bookkeeping: true},
	"TaskList":      {Name: "task-list", Kind: KindOther, Bookkeeping: true},
	"TaskUpdate":    {Name: "task-update", Kind: KindOther, Bookkeeping: true},
	"TaskGet":       {Name: "task-view", Kind: KindOther, Bookkeeping: true},
	"TaskOutput":    {Name: "task-output", Kind: KindOther, Bookkeeping: true},
	"BashOutput":    {Name: "task-output", Kind: KindOther, Bookkeeping: true},
	"EnterPlanMode": {Name: "enter-plan-mode", Kind: KindOther, Bookkeeping: true},
	"ToolSearch":    {Name: "tool-search", Kind: KindOther, Bookkeeping: true},

	"AskUserQuestion": {Name: "ask-user-question", Kind: KindOther, OwnScreen: true},
	"ExitPlanMode":    {Name: "exit-plan-mode", Kind: KindOther, OwnScreen: true},
}

// EachTool yields every tool of every table: the host, empty for our own
// names, the name by which it is called there, and what is known of it. Tools
// come in no particular order.
func EachTool(yield func(host, name string, t Tool) bool) {
	for name, t := range canonicalTools {
		if !yield("", name, t) {
			return
		}
	}
	for name, canonical := range ownTools {
		if !yield("", name, canonicalTools[canonical]) {
			return
		}
	}
	for host, tools := range hostTools {
		for name, t := range tools {
			if !yield(host, name, t) {
				return
			}
		}
	}
}
