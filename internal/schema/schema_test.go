package schema_test

import (
	"testing"

	"github.com/sayso-dev/sayso/internal/schema"
)

func TestTakes(t *testing.T) {
	const echo = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`
	for _, tt := range []struct {
		schema, args string
		takes        bool
	}{
		{echo, `{"text":"a"}`, true},
		{echo, `{"text":1}`, false},
		{echo, `{}`, false},
		{echo, `{"text":"a","more":1}`, false},
		{echo, `{"text":"a","text":"b"}`, false},
		{echo, `{"text":"a"`, false},
		{echo, ``, false},
		{`{}`, `{"any":"thing"}`, true},
		{`{"type":7}`, `{}`, false},
		{``, `{}`, false},
		{`{"$ref":"https://example.invalid/schema"}`, `{}`, false}, // which is not fetched
		{`{"$ref":"#/$defs/none"}`, `{}`, false},
	} {
		if err := schema.Takes([]byte(tt.schema), []byte(tt.args)); (err == nil) != tt.takes {
			t.Errorf("%s of %s: %v", tt.args, tt.schema, err)
		}
	}
}
