// Package present makes what a person is shown of a call.
package present

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
)

// SafeJSON returns a JSON document with [Safe] applied to all its strings and
// member names, and what to look out for, with the place of each.
func SafeJSON(raw []byte) (shown []byte, warnings []sayso.Warning, err error) {
	var out bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(false))
	for {
		tok, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes()), warnings, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if tok.Kind() == '"' {
			text, kinds := Safe(tok.String())
			for _, k := range kinds {
				warnings = append(warnings, sayso.Warning{Kind: k, Path: string(dec.StackPointer())})
			}
			tok = jsontext.String(text)
		}
		if err := enc.WriteToken(tok); err != nil {
			return nil, nil, err
		}
	}
}
