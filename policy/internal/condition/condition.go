// Package condition compiles and evaluates what stands behind when: in a rule:
// an expression in the Common Expression Language over the call and the facts
// about it, which is true or false.
//
// An expression is checked when it is compiled: names, types, that it is a
// truth value, that arguments are reached in a way that allows for their not
// being there. It has a bound on its cost, so no input makes it run long; what
// goes beyond the bound is an error, and what an error means is for the rule
// to say.
package condition

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// Limits of an expression.
const (
	MaxText = 8 << 10   // bytes
	maxCost = 2_000_000 // steps, as the library counts them
	checks  = 1000      // steps between looks at the context
)

// Condition is an expression that compiles. It may be used from many
// goroutines.
type Condition struct {
	text    string
	texts   []string
	places  bool
	program cel.Program
}

// Mistake is what is wrong with an expression.
type Mistake struct {
	Line   int // from 1
	Column int // from 1
	What   string
	Write  string // what to write; may be empty
}

// environment is what expressions may speak of, made once and only if there is
// an expression.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		ext.NativeTypes(ext.ParseStructTags(true), reflect.TypeFor[Call](), reflect.TypeFor[Facts]()),
		cel.OptionalTypes(),
		cel.Variable("call", cel.ObjectType("condition.Call")),
		cel.Variable("call.args", cel.OptionalType(cel.MapType(cel.StringType, cel.DynType))),
		cel.Variable("facts", cel.ObjectType("condition.Facts")),
		cel.ParserRecursionLimit(50),
		cel.ParserExpressionSizeLimit(MaxText),
		cel.EnableMacroCallTracking(),
	)
})

// Compile checks an expression.
func Compile(text string) (*Condition, []Mistake) {
	env, err := environment()
	if err != nil {
		return nil, []Mistake{{Line: 1, Column: 1, What: err.Error()}}
	}
	if len(text) > MaxText {
		return nil, []Mistake{{Line: 1, Column: 1, What: fmt.Sprintf("the condition has %d bytes, it may have %d", len(text), MaxText)}}
	}
	ast, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, mistakes(issues)
	}
	if ast.OutputType() != cel.BoolType {
		return nil, []Mistake{{Line: 1, Column: 1, What: "the condition is no truth value but a " + typeName(ast.OutputType().String()), Write: "compare it with something, as in call.cwd == \"/srv\""}}
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost), cel.InterruptCheckFrequency(checks))
	if err != nil {
		return nil, []Mistake{{Line: 1, Column: 1, What: plain(err.Error())}}
	}
	return &Condition{text: text, texts: texts(ast), places: placed(ast), program: program}, nil
}

// String is the expression.
func (c *Condition) String() string { return c.text }

// Places reports whether the expression depends on where words of commands lead.
func (c *Condition) Places() bool { return c.places }

// errNoBool is for what type checks make impossible.
var errNoBool = errors.New("the condition is no truth value")

// Holds evaluates the expression. An error means that it is not known whether
// it holds.
func (c *Condition) Holds(ctx context.Context, in *Input) (bool, error) {
	out, _, err := c.program.ContextEval(ctx, in.activation())
	if err != nil {
		return false, errors.New(plain(err.Error()))
	}
	holds, ok := out.(types.Bool)
	if !ok {
		return false, errNoBool
	}
	return bool(holds), nil
}

// mistakes turns what the library found into ours.
func mistakes(issues *cel.Issues) []Mistake {
	var out []Mistake
	for _, e := range issues.Errors() {
		m := Mistake{Line: max(e.Location.Line(), 1), Column: max(e.Location.Column()+1, 1), What: plain(e.Message)}
		syntax := strings.HasPrefix(m.What, "Syntax error")
		m.What, m.Write = explain(m.What)
		if out = append(out, m); syntax {
			break // what is said behind it is about the same
		}
	}
	return out
}

// explain says in our words what people get wrong most.
func explain(what string) (plainer, write string) {
	switch {
	case strings.Contains(what, "optional_type"):
		return what, `an argument may be missing: write call.args.name.orValue("")`
	case strings.Contains(what, "undefined field"):
		return what, "the fields are listed in docs/policy.md"
	case strings.Contains(what, "undeclared reference"):
		return what, "a condition speaks of call and facts"
	case strings.HasPrefix(what, "Syntax error"):
		what = strings.TrimSpace(strings.TrimPrefix(what, "Syntax error:"))
		if strings.HasPrefix(what, "token recognition error at: '=") {
			return "a single = compares nothing", "to compare, write =="
		}
	}
	return what, ""
}

// plain is an error of the library on one line, with our names for its types.
func plain(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(typeName(text)), " "), "condition.", "")
}

func typeName(text string) string {
	return strings.NewReplacer("condition.Call", "call", "condition.Command", "command", "condition.Facts", "facts").Replace(text)
}
