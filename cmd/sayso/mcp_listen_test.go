package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// mcpCaller TOKENFILE SERVER STEP... -- COMMAND ARGS... starts a gateway that
// listens, takes the steps at one of its servers, list or call NAME ARGUMENTS, and
// ends the gateway.
func mcpCaller() {
	at := slices.Index(os.Args, "--")
	token, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(os.Args[at+1], os.Args[at+2:]...)
	said, err := cmd.StderrPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	in := bufio.NewScanner(said)
	where := ""
	for (where == "" || !strings.Contains(where, "/"+os.Args[2]+"/")) && in.Scan() {
		fmt.Fprintln(os.Stderr, in.Text())
		_, where, _ = strings.Cut(in.Text(), " is at ")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for in.Scan() {
			fmt.Fprintln(os.Stderr, in.Text())
		}
	}()
	for i, step := range os.Args[3:at] {
		mcpPost(i+1, step, where, strings.TrimSpace(string(token)))
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	<-done
	_ = cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

// mcpPost takes a step over HTTP, and prints what came back.
func mcpPost(id int, step, where, token string) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	method, params, name := "tools/list", meta, ""
	if step != "list" {
		words := strings.SplitN(step, " ", 3)
		method, name = "tools/call", words[1]
		params = fmt.Sprintf(`%s,"name":%q,"arguments":%s`, meta, name, words[2])
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, params)
	r, err := http.NewRequest(http.MethodPost, where, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Sayso-Token": {token},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method},
	}
	if name != "" {
		r.Header.Set("Mcp-Name", name)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println("the gateway is gone")
		return
	}
	defer resp.Body.Close() // only read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	var m struct {
		rpc
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := jcs.UnmarshalLenient(text, &m); err != nil {
		panic(err)
	}
	if m.Error.Message != "" {
		fmt.Println("error:", m.Error.Message)
		return
	}
	(&mcpPeer{}).tell(m.rpc)
}
