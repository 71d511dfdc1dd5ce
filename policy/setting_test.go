package policy_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

// TestSH4_settings: a deny or an ask that names an option with its value holds
// beside an allow of the program, however the two are written.
func TestSH4_settings(t *testing.T) {
	p := load(t, `version: 1
default: allow
shell:
  default: {allowed: true}
  rules:
    - {pattern: curl -X DELETE, allowed: false}
    - {pattern: curl, approval: false}
rules:
  - allow: ["bash:curl*", "bash:kubectl*", "bash:make*", "bash:docker*", "bash:git*"]
  - deny: ["bash:curl -X POST*", "bash:kubectl -n prod*", "bash:docker -H tcp://prod ps", "bash:git -C /srv log*"]
  - ask: "bash:make -C prod*"
`)
	commands(t, p, sayso.Deny, "curl -X POST http://h/x", "curl -XPOST http://h/x", "curl --request=POST http://h/x", "curl -s --request POST http://h/x",
		"curl -X DELETE http://h/x", "curl -XDELETE http://h/x", "kubectl -n prod delete pod x", "kubectl -nprod delete pod x", "kubectl --namespace=prod get x",
		"docker -H tcp://prod ps", "git -C /srv log")
	commands(t, p, sayso.Ask, "make -C prod deploy", "make -Cprod deploy", "make --directory=prod deploy")
	commands(t, p, sayso.Allow, "curl -X PUT http://h/x", "kubectl -n dev get x", "make -C dev prod")
	exact := load(t, "version: 1\ndefault: allow\nrules:\n  - deny: \"bash:curl -X POST http://h/x\"\n")
	commands(t, exact, sayso.Deny, "curl -X POST http://h/x", "curl http://h/x -XPOST", "curl http://h/x -X POST")
	commands(t, exact, sayso.Allow, "curl -X POST http://h/y", "curl -X PUT http://h/x")
}

// TestSH4_theLineItself: the pattern that is the line itself denies the line.
func TestSH4_theLineItself(t *testing.T) {
	for _, line := range []string{
		"git -C /srv log", "helm -n prod uninstall x", "sudo -u root id", "env -u x ls", "tar -C / -xf a.tar", "find . -name x", "go test -run X ./...", "npm --prefix x publish",
		"xargs -n 1 rm", "git push -- --force", "rm -- -rf", "docker run -e A=b x", "ssh -p 22 host", "nice -n 5 make", "curl --data=x h", "git commit -m 'a b'", "sort -k 2 x",
	} {
		for _, pattern := range []string{line, line + "*"} {
			p := load(t, "version: 1\ndefault: allow\nrules:\n  - allow: \"bash:*\"\n  - deny: \"bash:"+strings.ReplaceAll(pattern, `"`, `\"`)+"\"\n")
			commands(t, p, sayso.Deny, line)
		}
	}
}

// TestSH8_abbreviatedInThePreset: the beginning of an option that throws work
// away is that option.
func TestSH8_abbreviatedInThePreset(t *testing.T) {
	p := preset(t, "developer")
	commands(t, p, sayso.Ask, "git restore --staged --wor a.txt", "git branch --delete --forc x", "git switch --forc main", "git switch --discard main")
}
