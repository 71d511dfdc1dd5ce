package shell_test

import (
	"slices"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// TestSH8_hiddenInPrograms: what a program of awk runs is found, where one could
// read another expression out of it as well.
func TestSH8_hiddenInPrograms(t *testing.T) {
	asks := []string{
		"awk 'BEGIN { x = 1 \\\n/ system(\"touch a\") / 1 }'",
		`awk '/[/"]/{system("touch a")} /"/' b`,
		`awk '{ if (1) /"/; system("touch a") } /"/' b`,
		`awk '{ x = 1 + /"/; system("touch a"); y = "" } ' b`,
		`awk '{ x++ / "/" ; system("touch a") }' b`,
		"awk 'BEGIN{getline x \\\n< \"/etc/passwd\"}'",
		`awk 'BEGIN{getline a["}"] < "/etc/passwd"}'`,
		`awk 'BEGIN{ARGV[1]=".env";ARGC=2}1'`,
		`awk '{ return /"/; system("x") } /"/'`,
		`zip -T x.zip a.txt '-TTtouch a'`, `zip -T x.zip a -TT 'touch a'`,
		`sed -n 's/[/]x/y/w out' a`,
	}
	quiet := []string{
		`awk '{print $1/2}' a`, `awk '/a|b/ {print $2}' a`, `awk '{x += ($1+$2)/NR} END {print x/NR, (x)/2}' a`, `awk -F: '/[[:alpha:]]/ {print $1}' a`,
		"awk 'BEGIN { x = 4 \\\n/ 2; print x }'", `awk '/["x]/ {n++} END {print n / 2}' a`, `zip -T x.zip a`, `awk '{print $NF/1000 "k"}' a`, `awk '$1 ~ /system/ {print}' a`,
	}
	for _, line := range asks {
		if c := shell.Inspect(line).Commands[0]; c.Beyond() == nil {
			t.Errorf("nothing is found in %q", line)
		}
	}
	for _, line := range quiet {
		if c := shell.Inspect(line).Commands[0]; c.Has(shell.Runs) || c.Has(shell.Inline) {
			t.Errorf("%q: %+v", line, c.Traits)
		}
	}
}

// TestSH11_readsInScripts: what a script of sed reads is an operand.
func TestSH11_readsInScripts(t *testing.T) {
	for _, line := range []string{"sed 'r /etc/passwd' a.txt", "sed 'R /etc/passwd' a", "sed -n '$r/etc/passwd' a", "sed -e p -e 'r /etc/passwd' a"} {
		c := shell.Inspect(line).Commands[0]
		if !slices.ContainsFunc(c.Operands(), func(w shell.Word) bool { return w.Text == "/etc/passwd" }) {
			t.Errorf("%q reads no operand: %+v", line, c.Operands())
		}
	}
}

// TestSH8_cleanInEarnest: a dry run that is taken back deletes.
func TestSH8_cleanInEarnest(t *testing.T) {
	for line, want := range map[string]bool{
		"git clean -f": true, "git clean -n": false, "git clean -f --dry-run --no-dry-run": true, "git clean -n --no-dry": true, "git clean -f --dry-run": false, "git clean --no-dry-run -n -f": true,
	} {
		if got := shell.Inspect(line).Commands[0].Has(shell.Deletes); got != want {
			t.Errorf("%q deletes: %v", line, got)
		}
	}
}

// TestSH8_abbreviatedInGit: an option of git may be the beginning of its name.
func TestSH8_abbreviatedInGit(t *testing.T) {
	for _, line := range []string{"git restore --staged --wor a.txt", "git branch --delete --forc x", "git switch --forc main", "git switch --discard main"} {
		if !shell.Inspect(line).Commands[0].Has(shell.Discards) {
			t.Errorf("%q discards nothing", line)
		}
	}
}
