package sayso_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/sayso-dev/sayso"

// source is what a Go file imports, by line.
type source struct {
	file    string // slash-separated, from the root of the module
	pkg     string // folder; "." for the root
	name    string // of the package
	test    bool
	imports map[string]int
	tree    *ast.File
	set     *token.FileSet
}

// external reports whether the file is of an external test package, which may
// see everything.
func (s *source) external() bool { return s.test && strings.HasSuffix(s.name, "_test") }

// sources reads all Go files of the module. The root's are read whole, of the
// others no more than the imports.
func sources(t *testing.T) []*source {
	t.Helper()
	all, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var readSources = sync.OnceValues(func() ([]*source, error) {
	var all []*source
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if file != "." && (base == "testdata" || base == "node_modules" || strings.ContainsAny(base[:1], "._")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		s, err := parse(filepath.ToSlash(file))
		if err == nil {
			all = append(all, s)
		}
		return err
	})
	return all, err
})

func parse(file string) (*source, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &source{
		file: file, pkg: path.Dir(file), test: strings.HasSuffix(file, "_test.go"),
		imports: map[string]int{}, set: token.NewFileSet(),
	}
	mode := parser.ImportsOnly
	if s.pkg == "." {
		mode = parser.SkipObjectResolution
	}
	if s.tree, err = parser.ParseFile(s.set, file, text, mode); err != nil {
		return nil, err
	}
	s.name = s.tree.Name.Name
	for _, i := range s.tree.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		s.imports[name] = s.set.Position(i.Pos()).Line
	}
	return s, nil
}

// The rings, from the inside out.
const (
	below = iota
	root
	beside
	rooms
	wiring
)

var ringNames = [...]string{"below the root", "the root", "beside the root", "a room", "wiring"}

// rings says where the folders belong. A folder belongs where the longest name
// that it lies in does; one that lies in none is nowhere and fails the test. A
// name with a star is for what lies in a folder, and not for the folder itself.
var rings = map[string]int{
	"internal/jcs": below, "internal/sse": below, "internal/boot": below, "internal/failpoint": below,
	"internal/filelock": below, "internal/child": below, "inspect": below,
	".":      root,
	"redact": beside, "present": beside, "internal/wire": beside, "internal/facts": beside, "internal/enforce": beside, "internal/schema": beside, "internal/cover": beside, "internal/status": beside, "internal/lines": beside, "internal/rpc": beside,
	"agent":  beside, // what all hosts share; each host is a room
	"policy": rooms, "broker": rooms, "store": rooms, "agent/*": rooms, "gateway": rooms, "tool": rooms,
	"sandbox": rooms, "server": rooms, "client": rooms, "web": rooms, "internal/outbox": rooms,
	"cmd": wiring, "saysotest": wiring, "bench": wiring, "lab": wiring, "examples": wiring, "internal": wiring,
}

// ring returns the ring of a folder of the module.
func ring(pkg string) (int, bool) {
	for p := pkg; ; p = path.Dir(p) {
		if r, ok := rings[p+"/*"]; ok && p != pkg {
			return r, true
		}
		if r, ok := rings[p]; ok && (p != "." || pkg == ".") {
			return r, true
		}
		if p == "." {
			return 0, false
		}
	}
}

// room is the room that a folder lies in: each engine and each agent has its
// own.
func room(pkg string) string {
	parts := strings.Split(pkg, "/")
	if len(parts) > 1 && (parts[0] == "store" || parts[0] == "agent") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// ours returns the folder of an import of this module.
func ours(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// broken says which rule an import breaks, or nothing.
func broken(from, to string) string {
	inner, ok := ring(from)
	if !ok {
		return "lies in no ring: say in rings_test.go where it belongs"
	}
	outer, ok := ring(to)
	switch {
	case !ok:
		return to + " lies in no ring"
	case from == to || room(from) == room(to) && inner == outer:
		return ""
	case inner == below:
		return "below the root nothing of ours is known"
	case inner == rooms && outer == rooms:
		return "rooms never import each other"
	case from == "internal/tui" && outer > beside:
		return "the terminal holds an Inbox and nothing else"
	case outer >= inner && inner < wiring:
		return ringNames[inner] + " must not import " + ringNames[outer]
	}
	return ""
}

func TestRings(t *testing.T) {
	for _, s := range sources(t) {
		if s.external() {
			continue
		}
		for imported, line := range s.imports {
			to, ok := ours(imported)
			if !ok {
				continue
			}
			if why := broken(s.pkg, to); why != "" {
				t.Errorf("%s:%d: import %q: %s", s.file, line, imported, why)
			}
		}
	}
}

func TestRings_catch(t *testing.T) {
	for _, c := range []struct {
		from, to string
		fine     bool
	}{
		{"internal/jcs", ".", false}, {"inspect/shell", "inspect/path", true}, {"inspect/shell", "internal/jcs", false},
		{".", "internal/jcs", true}, {".", "inspect/shell", true}, {".", "redact", false}, {".", "broker", false},
		{"redact", ".", true}, {"present", "redact", false}, {"redact", "broker", false}, {"redact", "internal/home", false},
		{"broker", "redact", true}, {"broker", ".", true}, {"broker", "policy", false}, {"broker", "internal/home", false},
		{"store/sqlite", "store/memory", false}, {"store/sqlite", "store/sqlite/migration", true}, {"agent/codex", "agent/claudecode", false},
		{"agent/codex", "agent", true}, {"agent", "agent/codex", false}, {"policy", "agent", true}, {"policy", "agent/codex", false},
		{"server", "client", false}, {"server", "internal/wire", true}, {"server", "cmd/sayso", false},
		{"cmd/sayso", "server", true}, {"internal/hook", "broker", true}, {"internal/tui", "broker", false}, {"internal/tui", "present", true},
		{"elsewhere", ".", false}, {"broker", "elsewhere", false},
	} {
		if why := broken(c.from, c.to); (why == "") != c.fine {
			t.Errorf("%s importing %s: got %q, want fine: %v", c.from, c.to, why, c.fine)
		}
	}
}

// strictJSON: the standard library's decoder accepts duplicate keys and names
// in another case; see package internal/jcs.
func TestRings_strictJSON(t *testing.T) {
	for _, s := range sources(t) {
		for imported, line := range s.imports {
			switch {
			case s.test:
			case imported == "encoding/json":
				t.Errorf("%s:%d: %q reads JSON that two readers could read differently; use internal/jcs", s.file, line, imported)
			case imported == "github.com/go-json-experiment/json" && s.pkg != "internal/jcs":
				t.Errorf("%s:%d: %q has options that decide what is strict; use internal/jcs", s.file, line, imported)
			}
		}
	}
}

// The root holds values and pure functions: no file, no network, no clock, no
// goroutine, no chance.
func TestRings_rootIsPure(t *testing.T) {
	forbidden := []string{
		"net", "os", "sync", "log", "syscall", "unsafe", "runtime", "math/rand", "crypto/rand", "database/sql", "io/fs", "io/ioutil", "path/filepath", "plugin",
	}
	for _, s := range sources(t) {
		if s.pkg != "." || s.test {
			continue
		}
		for imported, line := range s.imports {
			for _, f := range forbidden {
				if imported == f || strings.HasPrefix(imported, f+"/") {
					t.Errorf("%s:%d: the root imports %q", s.file, line, imported)
				}
			}
			first, _, _ := strings.Cut(imported, "/")
			if _, our := ours(imported); !our && strings.Contains(first, ".") {
				t.Errorf("%s:%d: the root imports %q, which is not in the standard library", s.file, line, imported)
			}
		}
		for _, found := range impure(s) {
			t.Error(found)
		}
	}
}

// impure finds where a file reads the clock or starts a goroutine.
func impure(s *source) (found []string) {
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Sleep", "LoadLocation"}
	at := func(n ast.Node) string { return fmt.Sprintf("%s:%d", s.file, s.set.Position(n.Pos()).Line) }
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, at(n)+": the root starts a goroutine")
		case *ast.ChanType:
			found = append(found, at(n)+": the root has a channel")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, n.Sel.Name) {
				found = append(found, at(n)+": the root reads the clock by time."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// The hook starts on every call: what it links costs every call its start-up,
// and what it does not link cannot break it.
func TestRings_hookIsSmall(t *testing.T) {
	heavy := []string{
		"github.com/alecthomas/chroma", "go.opentelemetry.io", "github.com/danielgtaylor/huma", "github.com/modelcontextprotocol",
		"github.com/prometheus", "github.com/spf13/cobra", module + "/server", module + "/web", module + "/internal/tui", "net/http/pprof",
		"github.com/nicholas-fedor/shoutrrr", module + "/internal/outbox",
	}
	imports := map[string]map[string]int{} // by folder; where the line is does not matter here
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		if imports[s.pkg] == nil {
			imports[s.pkg] = map[string]int{}
		}
		for imported := range s.imports {
			imports[s.pkg][imported]++
		}
	}
	const hook = "cmd/sayso-hook"
	if imports[hook] == nil {
		t.Fatalf("there is no %s to look at; if the hook moved, say here where it is", hook)
	}
	way := map[string]string{hook: hook}
	for queue := []string{hook}; len(queue) > 0; queue = queue[1:] {
		for imported := range imports[queue[0]] {
			for _, h := range heavy {
				if imported == h || strings.HasPrefix(imported, h+"/") {
					t.Errorf("the hook links %s: %s → %s", h, way[queue[0]], imported)
				}
			}
			if to, ok := ours(imported); ok && way[to] == "" {
				way[to] = way[queue[0]] + " → " + to
				queue = append(queue, to)
			}
		}
	}
}
