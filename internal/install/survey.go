package install

import (
	"bytes"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
)

// Rule is one of the host's own permission rules.
type Rule struct {
	List string // allow, ask or deny
	Text string // as it stands there
	// Pattern is the same as a pattern of our policy; empty if it cannot be
	// taken over, and then Why says why.
	Pattern string
	Why     string
}

// Survey is what the settings of a host say of our hooks, and besides them.
type Survey struct {
	Installed       bool   // our hook that asks is there, as we would write it
	Program         string // of our hook
	State           string // the folder of the gate that it asks
	Differs         string // in what our hook is another than we would write it; empty if it is none or installed
	Rules           []Rule
	DefaultMode     string
	DisableAllHooks bool
	ManagedOnly     bool
	OtherHooks      []string // commands and addresses of other PreToolUse hooks
}

// SurveyClaude reads what matters to us in Claude Code's settings.
func SurveyClaude(settings []byte) (Survey, error) {
	s, err := claudeFormat.survey(settings)
	if err != nil || len(bytes.TrimSpace(settings)) == 0 {
		return s, err
	}
	root, err := claudeFormat.object(settings)
	if err != nil {
		return s, err
	}
	s.DisableAllHooks = truth(settings, root.get("disableAllHooks"))
	s.ManagedOnly = truth(settings, root.get("allowManagedHooksOnly"))
	permissions := root.get("permissions")
	s.DefaultMode = stringOf(settings, permissions.get("defaultMode"))
	for _, list := range []string{"allow", "ask", "deny"} {
		for _, e := range elements(permissions.get(list)) {
			if text := stringOf(settings, e); text != "" {
				s.Rules = append(s.Rules, takeOver(list, text))
			}
		}
	}
	return s, nil
}

func truth(text []byte, n *node) bool { return n != nil && string(n.raw(text)) == "true" }

// takeOver says what a rule is in our policy. A rule is taken over only where
// ours means exactly the same.
func takeOver(list, text string) Rule {
	r := Rule{List: list, Text: text}
	tool, rest, specified := strings.Cut(text, "(")
	rest, closed := strings.CutSuffix(rest, ")")
	name := canonicalTool(tool)
	switch {
	case specified && !closed:
		r.Why = "it is not written as Tool(…)"
	case strings.HasPrefix(tool, "mcp__") && !specified:
		r.mcp(tool)
	case name == "":
		r.Why = "no tool of that name is known"
	case !specified:
		r.Pattern = name
	case tool == "Bash" && !strings.ContainsAny(rest, "*") && !strings.HasSuffix(rest, ":") && rest != "":
		r.Pattern = name + ":" + rest
	case tool == "Bash":
		r.Why = "it matches more than one exact command"
	default:
		r.Why = "its argument has a language of its own"
	}
	return r
}

func (r *Rule) mcp(tool string) {
	if _, name, ok := sayso.SplitMCP(tool); ok && !strings.Contains(name, "*") {
		r.Pattern = tool
		return
	}
	r.Why = "it matches all tools of a server"
}

func canonicalTool(name string) string {
	t := sayso.Call{Host: claudecode.Host, Tool: name}.Known()
	if t.Name == name && t.Kind == sayso.KindOther && !t.Bookkeeping {
		return ""
	}
	return t.Name
}
