package clients_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// The clients look for the same variables of agents as the command line does.
func TestAgents_areKnownToAll(t *testing.T) {
	list := func(file, begin string) []string {
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		block := regexp.MustCompile(`(?ms)^` + begin + `.*?^[)\]}]`).Find(text)
		found := map[string]bool{}
		for _, name := range regexp.MustCompile(`['"]([A-Z][A-Z_]+)['"]`).FindAllSubmatch(block, -1) {
			found[string(name[1])] = true
		}
		return slices.Sorted(maps.Keys(found))
	}
	want := list("internal/agentproc/agentproc.go", "var markers = ")
	if len(want) < 15 {
		t.Fatalf("only %v are found", want)
	}
	for file, begin := range map[string]string{"clients/python/sayso.py": "_AGENTS = ", "clients/typescript/src/node.ts": "const agents = "} {
		if got := list(file, begin); !slices.Equal(got, want) {
			t.Errorf("%s knows %v, want %v", file, got, want)
		}
	}
}
