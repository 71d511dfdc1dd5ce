package present

import "github.com/sayso-dev/sayso"

// The page has the same words, in web/ui/src/words.ts.
var (
	risks = map[sayso.Risk]string{
		sayso.RiskSafe: "safe", sayso.RiskModerate: "moderate", sayso.RiskDestructive: "may do anything",
	}
	dangers = map[sayso.Danger]string{
		sayso.DangerOutside: "writes outside the workspace", sayso.DangerDelete: "deletes", sayso.DangerNetwork: "sends to another machine",
		sayso.DangerPrivilege: "becomes another user", sayso.DangerDynamic: "known only when it runs",
		sayso.DangerInterpreter: "runs a program that is not shown here", sayso.DangerRule: "a rule calls it dangerous",
	}
)

// Risk is how risky a call is, in a word or three. The policy calls a call
// destructive when no table knows what it does, and when one knows that it does
// harm: that is danger.
func Risk(risk sayso.Risk, danger []sayso.Danger) string {
	if len(danger) > 0 {
		return "danger"
	}
	return named(risks, risk)
}

// Dangers are what is dangerous about a call, in words.
func Dangers(list []sayso.Danger) []string {
	var out []string
	for _, d := range list {
		out = append(out, named(dangers, d))
	}
	return out
}

// named is what something is called, or its own name where a later release has
// more of them.
func named[K ~string](words map[K]string, k K) string {
	if word := words[k]; word != "" {
		return word
	}
	return oneLine(string(k))
}
