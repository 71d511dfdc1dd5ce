package redact_test

import (
	"fmt"

	"github.com/sayso-dev/sayso/redact"
)

func ExampleRedactor_Call() {
	r := redact.New(nil)
	res, err := r.Call([]byte(`{"command":"TOKEN=1f0a93bc77d2 make deploy; rm -rf build"}`),
		map[string]string{"description": "deploys with 1f0a93bc77d2"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(res.Full))
	fmt.Println(res.Texts["description"])
	for _, red := range res.Redactions {
		fmt.Println(red.Path, red.Key, red.Length)
	}
	// Output:
	// {"command":"TOKEN=[hidden 12 bytes] make deploy; rm -rf build"}
	// deploys with [hidden 12 bytes]
	// /command TOKEN 12
	// description TOKEN 12
}

func ExampleScrub() {
	fmt.Println(redact.Scrub("get https://bot:hunter2@db.example/x?api_key=abc&y=1: 403"))
	// Output: get https://bot:[hidden 7 bytes]@db.example/x?api_key=[hidden 3 bytes]&y=1: 403
}
