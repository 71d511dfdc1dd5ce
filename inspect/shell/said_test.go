package shell_test

import "testing"

// TestSH7_whatShellsRead: a text that a shell reads from a pipe is a line of its
// own, where echo, printf or a here-document says what it is.
func TestSH7_whatShellsRead(t *testing.T) {
	runLines(t, []lineOf{
		{"echo", "echo 'rm x' | sh", []string{"echo ‹rm x›", "sh", "rm x"}},
		{"a format", `printf 'ls\nrm x' | sh`, []string{`printf ‹ls\nrm x›`, "sh", "ls", "rm x"}},
		{"words of a format", `printf '%s\n' 'rm x' ls | bash`, []string{`printf %s\n ‹rm x› ls`, "bash", "%s", "rm x ls", "rm x", "ls"}},
		{"escapes of echo", `echo -e 'ls\nrm x' | sh`, []string{`echo -e ‹ls\nrm x›`, "sh", "ls", "rm x"}},
		{"a here-document by way of cat", "cat <<EOF | sh\nrm x\nEOF", []string{"cat", "sh", "rm x"}},
		{"a word by way of cat", "cat - <<< 'rm x' | sudo sh", []string{"cat -", "sudo sh", "sh", "rm x"}},
		{"a part that nobody knows", `printf 'rm %s\n' "$x" | sh`, []string{`printf ‹rm %s\n› {variable}`, "sh", "rm %s", "{variable}", "{variable}"}},
		{"a shell that is started without a command", "echo 'rm x' | sudo -s", []string{"echo ‹rm x›", "sudo -s", "rm x"}},
		{"in another root", "chroot /x <<< 'rm x'", []string{"chroot /x", "rm x"}},
		{"a file by way of cat", "cat x | sh", []string{"cat x", "sh"}},
	})
}
