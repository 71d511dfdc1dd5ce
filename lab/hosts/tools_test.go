//go:build unix

package hosts_test

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/hosts"
)

// offered is a tool that a host offers its model, with the names of its fields.
type offered struct {
	Name   string   `json:"name"`
	Fields []string `json:"fields"`
}

// compareTools compares what the host offers its model with the file that the
// adapter's table is tested with. With -update the file is written.
func compareTools(t *testing.T, h hosts.Host, stub *modelstub.Stub) {
	t.Helper()
	var got []offered
	for _, r := range stub.Requests() {
		if r.Script {
			got = toolsOf(t, r.Body)
			break
		}
	}
	path := filepath.Join("../../agent", h.Name, "testdata", "tools-"+h.Version+".json")
	if *update {
		text, err := jcs.MarshalIndent(got)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(text)+"\n")
	}
	var want []offered
	if err := jcs.Unmarshal([]byte(read(t, path)), &want); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-file +offered):\n%s", diff)
	}
}

// toolsOf reads the tools in a request of either API, the tools of servers left
// out.
func toolsOf(t *testing.T, body []byte) []offered {
	t.Helper()
	type schema struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	type tool struct {
		Name         string `json:"name"`
		Schema       schema `json:"input_schema"`
		Parameters   schema `json:"parametersJsonSchema"`
		Declarations []struct {
			Name       string `json:"name"`
			Parameters schema `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	}
	var request struct {
		Tools []tool `json:"tools"`
	}
	if err := jcs.UnmarshalLenient(body, &request); err != nil {
		t.Fatal(err)
	}
	var all []offered
	add := func(name string, s schema) {
		if name != "mcp_lab_deploy" && name != "mcp_lab_look" && name != "lab-deploy" && name != "lab-look" && name != "lab_deploy" && name != "lab_look" {
			all = append(all, offered{name, append([]string{}, slices.Sorted(maps.Keys(s.Properties))...)})
		}
	}
	for _, tool := range request.Tools {
		for _, d := range tool.Declarations {
			add(d.Name, d.Parameters)
		}
		if len(tool.Declarations) == 0 {
			add(tool.Name, tool.Schema)
		}
	}
	slices.SortFunc(all, func(a, b offered) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
