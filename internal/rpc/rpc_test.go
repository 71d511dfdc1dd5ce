package rpc_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/rpc"
)

// What is read of a message stands in it at the place that is said, and what a
// careless reader could take for another member is refused.
func TestMembers(t *testing.T) {
	const line = ` {"id": 1, "params" :{"a":[1,{"b":2,"b":3}]}} `
	got := map[string]string{}
	err := rpc.Members([]byte(line), []string{"id", "method", "params"}, func(name string, value jsontext.Value, at int) error {
		got[name] = line[at : at+len(value)]
		return nil
	})
	if err != nil || got["id"] != "1" || got["params"] != `{"a":[1,{"b":2,"b":3}]}` {
		t.Errorf("%v, %v", got, err)
	}
	for _, line := range []string{
		``, `[]`, `1`, `{`, `{"id":1`, `{"id":1}{}`, `{"id":1} x`, `{"id":1,"id":2}`, `{"ID":1}`, `{"i d":1}`, "{\"id\\u0000\":1}", `{"\u0069d":1,"id":2}`,
	} {
		if err := rpc.Members([]byte(line), []string{"id"}, func(string, jsontext.Value, int) error { return nil }); err == nil {
			t.Errorf("%q was read", line)
		}
	}
}

func TestElements(t *testing.T) {
	const list = `[1, {"a":2} ,"x"]`
	var got []string
	err := rpc.Elements([]byte(list), func(value jsontext.Value, at int) error {
		got = append(got, list[at:at+len(value)])
		return nil
	})
	if err != nil || len(got) != 3 || got[1] != `{"a":2}` {
		t.Errorf("%q, %v", got, err)
	}
	if rpc.Elements([]byte(`{"a":1}`), func(jsontext.Value, int) error { return nil }) == nil {
		t.Error("an object was taken for a list")
	}
}

func TestSoleID(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,"a":1,"a":2}`: "1", `{"id":"x"}`: `"x"`, `{"id":1,"id":1}`: "", `{"id":1,"method":"a"}`: "", `{"id":1,"Method":"a"}`: "", `{"id":1} {}`: "", `[]`: "",
	} {
		if got := rpc.SoleID([]byte(line)); string(got) != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
