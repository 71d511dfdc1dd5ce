package present_test

import (
	"fmt"

	"github.com/sayso-dev/sayso/present"
)

func ExampleSafe() {
	shown, kinds := present.Safe("echo ok\x1b[2J # \u202egnp.sh")
	fmt.Println(shown, kinds)
	// Output: echo ok\x1b[2J # \u{202e}gnp.sh [control bidi]
}

func ExampleTerminal() {
	fmt.Print(present.Terminal(present.View{
		Tool: "bash", Cwd: "/home/dev/app",
		Said:    map[string]string{"description": "list files"},
		Preview: []byte(`{"command":"ls\nrm -rf build"}`),
	}, 80))
	// Output:
	// a call waits for an answer
	//
	// arguments:
	//   command:
	//   | ls
	//   | rm -rf build
	//
	//   tool       bash
	//   directory  /home/dev/app
	//
	// the agent says (not checked):
	//   description:
	//   | list files
}
