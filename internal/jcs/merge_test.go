package jcs_test

import (
	"bytes"
	"maps"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// raw is JSON that is kept as it is.
type raw = args

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"nothing":           {nil, `{}`},
		"empty":             {[]string{`{}`, `{}`}, `{}`},
		"one":               {[]string{`{"b":1,"a":"x"}`}, `{"a":"x","b":1}`},
		"two":               {[]string{`{"z":1,"b":[1,{"c":2}]}`, `{"note":"","a":null}`}, `{"a":null,"b":[1,{"c":2}],"note":"","z":1}`},
		"the last counts":   {[]string{`{"a":1,"b":2}`, `{"a":3}`, `{"a":{}}`}, `{"a":{},"b":2}`},
		"a name in another": {[]string{`{"ab":1,"a":2,"a b":3,"a!":4}`}, `{"a":2,"a b":3,"a!":4,"ab":1}`},
		"signs in strings":  {[]string{`{"a":"}],\"{[:","b":["\\",",}"]}`, `{"c":true}`}, `{"a":"}],\"{[:","b":["\\",",}"],"c":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			var objects [][]byte
			for _, o := range c.objects {
				objects = append(objects, []byte(o))
			}
			got, ok := jcs.Merge(objects...)
			if !ok || string(got) != c.want {
				t.Errorf("Merge = %s, %t, want %s", got, ok, c.want)
			}
			slow, err := mergeByReading(objects...)
			if err != nil || string(slow) != c.want {
				t.Errorf("reading gives %s, %v, want %s", slow, err, c.want)
			}
		})
	}
}

func TestMergeLeavesOddNames(t *testing.T) {
	for _, o := range []string{`{"a\"b":1}`, `{"a":1,"ü":2}`} {
		if got, ok := jcs.Merge([]byte(`{}`), []byte(o)); ok || got != nil {
			t.Errorf("Merge(%s) = %s, %t", o, got, ok)
		}
	}
}

// mergeByReading is Merge by way of a map.
func mergeByReading(objects ...[]byte) ([]byte, error) {
	all := map[string]raw{}
	for _, o := range objects {
		var members map[string]raw
		if err := jcs.Unmarshal(o, &members); err != nil {
			return nil, err
		}
		maps.Copy(all, members)
	}
	return jcs.Marshal(all)
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[{"a":"}"}]}`), []byte(`{"b":"\\\"","a":null}`))
	f.Add([]byte(`{"":0}`), []byte(`{"ü":"\u0000"}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var objects [][]byte
		for _, src := range [][]byte{a, b} {
			var members map[string]any
			if jcs.Unmarshal(src, &members) != nil {
				return
			}
			written, err := jcs.Marshal(members)
			if err != nil || members == nil {
				return
			}
			objects = append(objects, written)
		}
		want, err := mergeByReading(objects...)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := jcs.Merge(objects...); ok && !bytes.Equal(got, want) {
			t.Errorf("Merge(%s) = %s, want %s", objects, got, want)
		}
	})
}
