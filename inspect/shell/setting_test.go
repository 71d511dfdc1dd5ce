package shell_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// TestSH4_settings: an option of a pattern with its value is found in every way
// to write it.
func TestSH4_settings(t *testing.T) {
	tests := []struct {
		pattern          string
		yes, perhaps, no []string
	}{
		{"curl -X POST",
			[]string{"curl -X POST http://h/x", "curl -XPOST h", "curl -s -X POST h", "curl -sX POST h", "curl -sXPOST h", "curl --request POST h", "curl --request=POST h", "curl h -X POST", "curl -o x -X POST h", "curl --req POST h"},
			[]string{"curl -X $m h", "curl -X$m h", "curl $o POST h", "curl $o h", "curl -X P* h"},
			[]string{"curl -X GET h", "curl -XGET h", "curl h", "curl -X GET POST", "curl -- -X POST", "curl POST", "curl -o XPOST h", "curl -oXPOST h", "curl -H -X h"}},
		{"curl --request=POST", []string{"curl -X POST h", "curl -XPOST h", "curl --request POST"}, nil, []string{"curl -X GET h"}},
		{"curl -XPOST", []string{"curl -X POST h", "curl -XPOST h", "curl -sXPOST h", "curl --request=POST"}, nil, []string{"curl -XGET h"}},
		{"curl -sX POST", []string{"curl -sX POST h", "curl -sX POST", "curl -s -k -X POST h", "curl -XPOST -s"}, nil, []string{"curl -X POST h", "curl -s POST"}},
		{"kubectl -n prod",
			[]string{"kubectl -n prod delete pod x", "kubectl -nprod get x", "kubectl --namespace=prod get x", "kubectl --namespace prod get", "kubectl get pods -n prod", "kubectl -n=prod get"},
			nil, []string{"kubectl -n dev get prod", "kubectl get prod"}},
		{"kubectl -n prod delete", []string{"kubectl -n prod delete pod", "kubectl --namespace=prod delete x", "kubectl delete x -n prod"}, nil, []string{"kubectl -n prod get delete", "kubectl -n dev delete x"}},
		{"make -C prod", []string{"make -C prod deploy", "make -Cprod deploy", "make --directory=prod x", "make -j4 -C prod"}, nil, []string{"make -C dev prod", "make prod"}},
		{"docker -H tcp://prod ps", []string{"docker -H tcp://prod ps", "docker --host=tcp://prod ps -a"}, nil, []string{"docker ps", "docker -H tcp://dev ps"}},
		{"helm -n prod uninstall", []string{"helm -n prod uninstall x", "helm uninstall x -n prod"}, nil, []string{"helm uninstall x"}},
		{"git -C /srv log", []string{"git -C /srv log -3"}, nil, []string{"git -C /tmp log"}},
		{"sudo -u root id", []string{"sudo -u root id", "sudo --user=root id", "sudo -uroot id"}, nil, []string{"sudo -u nobody id"}},
		{"tool -n prod", []string{"tool -n prod x", "tool x -n prod", "tool -n=prod"}, []string{"tool -nprod"}, []string{"tool -n dev", "tool prod"}},
		{"git push", nil, nil, []string{"git -C push log", "git -c push status"}},
	}
	for _, tt := range tests {
		for want, lines := range map[shell.Fit][]string{shell.Yes: tt.yes, shell.Perhaps: tt.perhaps, shell.No: tt.no} {
			for _, line := range lines {
				c := shell.Inspect(line).Commands[0]
				if got := fit(tt.pattern, &c); got != want {
					t.Errorf("%q with %q: got %v, want %v", tt.pattern, line, got, want)
				}
			}
		}
	}
}

// fit is how well a pattern fits a command in the spellings of both.
func fit(pattern string, c *shell.Command) shell.Fit {
	words := strings.Fields(pattern)
	out := shell.No
	for _, p := range append([][]string{words}, shell.Spellings(words)...) {
		out = max(out, c.Fits(p, nil))
		for _, s := range c.Spellings() {
			out = max(out, s.Fits(p, nil))
		}
	}
	return out
}

// TestSH4_everyOption: for every program and option of the tables, the line
// itself is a pattern that fits it, and so it does in its other spellings.
func TestSH4_everyOption(t *testing.T) {
	for _, name := range shell.Programs() {
		if strings.Contains(name, "*") || strings.HasPrefix(name, "python -m ") { // a module, whose options python has too
			continue
		}
		for i, o := range shell.Options(name) {
			if testing.Short() && i%8 != 0 {
				continue
			}
			value := name + " " + o.Name + " val"
			check := func(pattern, line string) {
				l := shell.Inspect(`\` + line)
				if len(l.Commands) == 0 {
					t.Fatalf("no command in %q", line)
				}
				if got := l.Commands[0].Fits(strings.Fields(pattern), nil); got == shell.No {
					t.Errorf("%q does not fit %q", pattern, line)
				}
			}
			for _, line := range []string{name + " " + o.Name, value, value + " rest", name + " " + o.Name + "=val rest", name + " val " + o.Name, name + " a " + o.Name + " val b"} {
				check(line, line)
				check(line, line+" more")
			}
			if !o.Value {
				continue
			}
			check(value, value+" rest")
			check(value, name+" x "+o.Name+" val")
			switch {
			case strings.HasPrefix(o.Name, "--"):
				check(value, name+" "+o.Name+"=val")
				check(name+" "+o.Name+"=val", value)
			case len(o.Name) == 2 && o.Name[0] == '-':
				check(value, name+" "+o.Name+"val")
				check(name+" "+o.Name+"val", value)
			}
		}
	}
}
