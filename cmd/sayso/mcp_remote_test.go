package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// mcpHTTP FILE is an MCP server that speaks HTTP, with the tools that stand in
// tools.json. It writes its address into the file, and each call with what it is
// authorised by into the file ran. Under /moved it sends to another host, under /login it
// wants to know who asks, and under /guarded it says how to log in.
func mcpHTTP() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	address := "http://" + l.Addr().String()
	if err := os.WriteFile(os.Args[1]+".new", []byte(address), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(os.Args[1]+".new", os.Args[1]); err != nil {
		panic(err)
	}
	g := &guarded{address: address}
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/moved":
			http.Redirect(w, r, strings.Replace(address, "127.0.0.1", "localhost", 1)+"/mcp", http.StatusTemporaryRedirect)
		case r.URL.Path == "/wrong":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/login":
			http.Error(w, "who are you", http.StatusUnauthorized)
		case slices.Contains(guardedPaths, r.URL.Path):
			g.serve(w, r, mcpAnswer)
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			mcpAnswer(w, r)
		}
	})))
}

func mcpAnswer(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	var m rpc
	if err := jcs.UnmarshalLenient(text, &m); err != nil {
		panic(err)
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `{}`
	switch m.Method {
	case "tools/list":
		tools, err := os.ReadFile("tools.json")
		if err != nil {
			panic(err)
		}
		result = `{"tools":` + string(tools) + `}`
	case "tools/call":
		ran, err := os.OpenFile("ran", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(ran, "%s %s by %s\n", m.Params.Name, m.Params.Arguments, r.Header.Get("Authorization"))
		_ = ran.Close()
		result = `{"content":[{"type":"text","text":"ran"}]}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// mcpListed FILE NAME STEP... starts a server as a client does that has it in its list
// (mcpServers), and takes the steps of mcp-client.
func mcpListed() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var list struct {
		Servers map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	if err := jcs.UnmarshalLenient(text, &list); err != nil {
		panic(err)
	}
	s := list.Servers[os.Args[2]]
	for name, value := range s.Env {
		if err := os.Setenv(name, os.ExpandEnv(value)); err != nil {
			panic(err)
		}
	}
	os.Args = slices.Concat(os.Args[:1], os.Args[3:], []string{"--", s.Command}, s.Args)
	mcpClient()
}
