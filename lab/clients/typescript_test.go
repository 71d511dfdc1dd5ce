package clients_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

// typescript is the process of the client for TypeScript, under Node.
func typescript(t testing.TB, how ...string) *bridge {
	t.Helper()
	built(t)
	return start(t, "TypeScript", append([]string{"node", "driver.mjs"}, how...)...)
}

// built skips the test where the client cannot be built, and that may be so.
func built(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("..", "..", "clients", "typescript", "dist", "node.js")); err == nil {
		if _, err := exec.LookPath("node"); err == nil {
			return
		}
	}
	if os.Getenv("SAYSO_OFFLINE") == "1" {
		t.Skip("the client for TypeScript is not built, and SAYSO_OFFLINE=1 lets that pass; type: make clients")
	}
	t.Fatal("the client for TypeScript is not built; type make clients, or set SAYSO_OFFLINE=1 to leave this test out")
}

// With platform the platform's own fetch carries what goes over TCP, as in a browser.
const platform = "platform"

func TestPromises_inTypeScript(t *testing.T) { promises(t, typescript(t, platform)) }

func TestAway_inTypeScript(t *testing.T) { away(t, typescript(t)) }

func TestHostile_inTypeScript(t *testing.T) { hostileServers(t, typescript(t)) }

func TestHostile_inTypeScript_platform(t *testing.T) { hostileServers(t, typescript(t, platform)) }

func TestHostile_redeem_inTypeScript(t *testing.T) { hostileRedeem(t, typescript(t)) }

func TestHostile_redeem_inTypeScript_platform(t *testing.T) {
	hostileRedeem(t, typescript(t, platform))
}

// TestTypeScript runs the client's own tests against a real server.
func TestTypeScript(t *testing.T) {
	built(t)
	t.Parallel()
	s := newSite(t)
	cmd := exec.CommandContext(patient(t), "node", "--test", "test.mjs")
	cmd.Dir, cmd.Env = filepath.Join("..", "..", "clients", "typescript"), append(os.Environ(), "CLIENTS_TEST_SOCKET="+s.socket())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "# fail 0") || !strings.Contains(string(out), "# skipped 0") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestDocs_typescript(t *testing.T) {
	built(t)
	t.Parallel()
	printed(t, "ts", func(s *site, ctx context.Context, text, who string) string {
		return s.example(ctx, who, filepath.Join("..", "..", "clients", "typescript"), "node", "--input-type=module", "-e", text)
	},
		"ran make deploy\n",
		"ana allowed make deploy\n",
		"bash { command: 'make c1' }\ndeny by ana\n",
		"sent to ana@example.org\n",
	)
}

// digests has a client compute the digests of the vectors.
func digests(t *testing.T, b *bridge) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors", "digests.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, Call, Digest string
		Error              bool
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 80 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	for _, v := range vectors {
		var got string
		out, err := b.do(patient(t), order{Op: "digest", In: in{"call": v.Call}}, nil)
		if err == nil {
			err = json.Unmarshal(out, &got)
		} else if errors.Is(err, sayso.ErrInvalid) {
			err = nil
		}
		if strings.Contains(v.Call, `"host"`) { // which is for hooks
			v.Digest = ""
		}
		if err != nil || got != v.Digest {
			t.Errorf("%s: got %q, %v, want %q", v.Name, got, err, v.Digest)
		}
	}
}

func TestDigests_inPython(t *testing.T) { digests(t, python(t)) }

func TestDigests_inTypeScript(t *testing.T) { digests(t, typescript(t)) }
