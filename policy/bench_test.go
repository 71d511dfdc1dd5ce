package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

// hundred is a policy of a hundred rules as a person would have them.
func hundred() string {
	lines := make([]string, 0, 100)
	for i := range 25 {
		lines = append(lines,
			fmt.Sprintf(`allow: "bash:make target-%d"`, i),
			fmt.Sprintf(`deny: "bash:tool%d delete*"`, i),
			fmt.Sprintf(`allow: "file-write:out/%d/**"`, i),
			fmt.Sprintf(`ask: "web-fetch:https://*.host%d.com/*"`, i))
	}
	return rules(lines...)
}

func BenchmarkJudge(b *testing.B) {
	p := load(b, hundred())
	mcp := call(b, "create_issue", obj{"title": "x"})
	mcp.Server = "github"
	for _, bb := range []struct {
		name string
		call sayso.Call
	}{
		{"mcp", mcp},
		{"task", call(b, "task-create", obj{"subject": "x"})},
		{"read", call(b, "file-read", obj{"path": "main.go"})},
		{"write", call(b, "file-write", obj{"path": "out/24/x", "content": strings.Repeat("line of text\n", 80)})},
		{"fetch", call(b, "web-fetch", obj{"url": "https://www.host24.com/docs/page?x=1"})},
		{"command", bash(b, "git -C sub status && go test ./... | tail -5")},
		{"command 1 KiB", bash(b, strings.Repeat("grep -rn pattern src | head -5; ", 32))},
		{"command 64 KiB", bash(b, strings.Repeat("grep -rn pattern src | head -5; ", 2048))},
		{"command 64 KiB of one program", bash(b, "xargs "+strings.Repeat("env tool1 -a ", 5000))},
		{"command 64 KiB of quotes", bash(b, strings.Repeat(`sh -c "sh -c 'a b'" `, 3300))},
	} {
		f := gather(context.Background(), bb.call)
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Judge(context.Background(), bb.call, f)
			}
		})
	}
}
