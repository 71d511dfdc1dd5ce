package mcpguard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
)

// sessions are the connections that are there, and the names of their sessions.
type sessions struct {
	mu    sync.Mutex // guards names
	names map[*mcp.ServerSession]string
}

// session is the session of a call.
func (g *guard) session(r *mcp.CallToolRequest) string {
	if g.o.Session != nil {
		if name := g.o.Session(r); name != "" {
			return name
		}
	}
	if r.Session.ID() == "" && r.Extra != nil && r.Extra.Header != nil { // a connection is one request
		if t := r.Extra.TokenInfo; t != nil && t.UserID != "" {
			return g.named("user", t.UserID)
		}
		return g.named("process", g.run)
	}
	return g.connected(r.Session)
}

// connected is the session of a connection. It ends with it.
func (g *guard) connected(ss *mcp.ServerSession) string {
	g.met.mu.Lock()
	defer g.met.mu.Unlock()
	if name, ok := g.met.names[ss]; ok {
		return name
	}
	id := ss.ID() // which lets whoever knows it speak in the client's name
	if id == "" {
		id = rand.Text()
	}
	name := g.named("connection", id)
	if g.met.names == nil {
		g.met.names = map[*mcp.ServerSession]string{}
	}
	g.met.names[ss] = name
	go func() {
		_ = ss.Wait() // however it ended
		g.met.mu.Lock()
		delete(g.met.names, ss)
		g.met.mu.Unlock()
		g.rounds.end(name)
		ctx, cancel := enforce.Late(context.Background())
		defer cancel()
		_ = g.gate.End(ctx, name) // its grants then end by their time
	}()
	return name
}

// named is a name that says nothing of what it was made of.
func (g *guard) named(kind, of string) string {
	sum := sayso.HashOf("sayso/mcpguard session/1", []byte(kind), []byte(g.name), []byte(of))
	return fmt.Sprintf("mcp-%.64s-%s", g.name, hex.EncodeToString(sum[:6]))
}

// maxClient is how much of a client's name is shown.
const maxClient = 40

// caller is who calls: what the client calls itself stands behind what it is, in
// letters, digits and what joins them.
func caller(known string, r *mcp.CallToolRequest) string {
	if known == "" {
		known = sayso.HostMCP
	}
	info := r.ClientInfo()
	if info == nil {
		return known
	}
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c) {
			return c
		}
		return '-'
	}, info.Name)
	plain = strings.Trim(plain[:min(len(plain), maxClient)], "-")
	if plain == "" {
		return known
	}
	return known + "/" + plain
}

// callID is the host's own id of a call, where it says one. A call that people
// allowed at the host's hook a moment ago is found by it.
func callID(r *mcp.CallToolRequest) string {
	for _, key := range []string{"claudecode/toolUseId", "callId"} {
		if id, ok := r.Params.Meta[key].(string); ok && id != "" {
			return id
		}
	}
	return ""
}
