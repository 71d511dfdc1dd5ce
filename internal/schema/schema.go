// Package schema tells whether arguments that a person wrote in the place of an
// agent's are such that the tool takes them, by the JSON schema with which the
// tool's server describes it.
package schema

import (
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// Takes reports arguments that a schema does not take, and a schema that cannot be
// read. Nothing that the schema refers to is fetched.
func Takes(schema, args []byte) error {
	var s jsonschema.Schema
	if err := s.UnmarshalJSON(schema); err != nil {
		return fmt.Errorf("its schema cannot be read: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return fmt.Errorf("its schema cannot be read: %w", err)
	}
	var value any
	if err := jcs.Unmarshal(args, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}
