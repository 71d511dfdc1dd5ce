package policy_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

// holes are ways in which a line of bash runs a command, which stands at the
// percent sign. Those marked with ' keep it between single quotes.
var holes = []string{
	"%", "%", "true; %", "true && %", "false || %", "true | %", "true & %", "true\n%", "( % )", "{ %; }", "! %", "X=1 %", "X=1 Y=a\\ b %",
	"if true; then %; fi", "if %; then :; fi", "if false; then :; else %; fi", "for i in 1 2; do %; done", "while %; do break; done", "until %; do break; done",
	"case x in x) %;; esac", "f() { %; }; f", "function f { %; }; f", "echo $( % )", "echo \"a $( % ) b\"", "echo ` % `", "cat <( % )", "Z=$( % )", "echo ${NO:-$( % )}",
	"> /dev/null %", "2>&1 %", "% > /dev/null", "% 2>/dev/null", "% &", "coproc %", "time %", "# comment\n%", "echo 'it is' \"quoted\"; %", "echo a\\;b; %", "[[ x ]] && %",
	"echo 'a # b'; %", "echo \"x\\\"y\"; %", "echo $((1+1)); %", "select i in a; do %; break; done <<< 1", "cat <<EOF\n$( % )\nEOF", "cat << 'E'; %\nbody\nE", "eval '%'", "sh -c '%'", "bash -c '%'",
	"bash -ec '%'", "trap '%' EXIT", "sh <<'EOF'\n%\nEOF", "echo {a,b}; %", "a=(1 2); %", "((1)); %", "let x=1; %",
}

// spellings are ways to name the program zap.
var spellings = []string{
	"zap x", "zap", "'zap' x", "z''ap x", "\"zap\" x", "z\\ap x", "\\zap", "./bin/zap x", "env zap x", "env -i PATH=$PATH zap", "nohup zap", "nice -n 3 zap", "timeout 5 zap x", "command zap",
	"exec zap", "xargs zap < /dev/null", "echo a | xargs -n 1 zap", "find . -maxdepth 0 -exec zap {} \\;", "setsid -w zap", "stdbuf -o0 zap", "builtin command zap", "za\\\np x", "zap\tx", "zap<in", "zap>/dev/null",
}

// TestBash_denyFindsWhatRuns runs random lines where zap is a program that
// leaves a mark. A deny on zap must match every line that leaves one.
func TestBash_denyFindsWhatRuns(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash on this machine to compare with; type: sudo apt-get install bash")
	}
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bin/zap": "#!/bin/sh\necho > '" + mark + "'\n", "in": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := load(t, rules(`deny: "bash:zap*"`))
	rnd := rand.New(rand.NewPCG(7, 7))
	rounds, ran := 400, 0
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		line := spellings[rnd.IntN(len(spellings))]
		for range 1 + rnd.IntN(3) {
			line = fill(holes[rnd.IntN(len(holes))], line)
		}
		cmd := exec.Command(shell, "-c", line+"\nwait") // for what it leaves in the background
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}
		_ = cmd.Run() // how it ends does not matter
		if os.Remove(mark) != nil {
			continue
		}
		ran++
		if v := judge(p, bash(t, line)); v.Effect != sayso.Deny {
			t.Errorf("zap runs, and the deny does not match: %q", line)
		}
	}
	if ran < rounds/2 {
		t.Errorf("zap ran in %d of %d lines only", ran, rounds)
	}
}

// fill puts a line into a hole, quoted as the hole wants it.
func fill(hole, line string) string {
	if strings.Contains(hole, "'%'") {
		line = strings.ReplaceAll(line, "'", `'\''`)
	}
	return strings.Replace(hole, "%", line, 1)
}
