package condition_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/policy/internal/condition"
)

func input() *condition.Input {
	return &condition.Input{
		Call: func() *condition.Call {
			return &condition.Call{Tool: "bash", Cwd: "/srv/a", Tags: []string{"x"}, Commands: []condition.Command{{Program: "kubectl", Args: []string{"apply", "-f", "x"}}}}
		},
		Args: func() map[string]any {
			return map[string]any{"command": "kubectl apply", "n": int64(3), "m": 2.5, "list": []any{"a"}}
		},
		Facts: func() *condition.Facts { return &condition.Facts{Workspace: "/srv/a", Inside: true} },
	}
}

func TestHolds(t *testing.T) {
	for text, want := range map[string]bool{
		`call.commands.exists(c, c.program == "kubectl") && call.cwd.startsWith("/srv")`: true,
		`call.commands.all(c, c.args.size() == 0)`:                                       false,
		`call.args.command.orValue("").startsWith("kubectl")`:                            true,
		`call.args[?"command"].orValue("") == "kubectl apply"`:                           true,
		`call.args.?command.orValue("") == "kubectl apply"`:                              true,
		`call.args.missing.orValue("") == "x"`:                                           false,
		`call.args.missing.hasValue()`:                                                   false,
		`call.args.n.orValue(0) == 3`:                                                    true,
		`call.args.list.orValue([]).exists(x, x == "a")`:                                 true,
		`"x" in call.tags`: true,
		`facts.inside`:     true,
		`call.url.local`:   false,
	} {
		c, wrong := condition.Compile(text)
		if wrong != nil {
			t.Errorf("%s: %+v", text, wrong)
			continue
		}
		if got, err := c.Holds(context.Background(), input()); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

// TestCompile_mistakes: what is wrong is told with its place, before anything
// is judged.
func TestCompile_mistakes(t *testing.T) {
	for text, want := range map[string]condition.Mistake{
		`call.cwd`:                         {Line: 1, Column: 1, What: "the condition is no truth value but a string", Write: `compare it with something, as in call.cwd == "/srv"`},
		`call.programs == 1`:               {Line: 1, Column: 5, What: "undefined field 'programs'", Write: "the fields are listed in docs/policy.md"},
		`call.cwd = "x"`:                   {Line: 1, Column: 10, What: "a single = compares nothing", Write: "to compare, write =="},
		`call.args.x == "y"`:               {Line: 1, Column: 13, What: "found no matching overload for '_==_' applied to '(optional_type(dyn), string)'", Write: `an argument may be missing: write call.args.name.orValue("")`},
		`foo`:                              {Line: 1, Column: 1, What: "undeclared reference to 'foo'", Write: "a condition speaks of call and facts"},
		"true &&\n  call.cwd == 1":         {Line: 2, Column: 12, What: "found no matching overload for '_==_' applied to '(string, int)'"},
		`(true`:                            {Line: 1, Column: 6, What: "missing ')' at '<EOF>'"},
		`call.commands.exists(c, c.foo)`:   {Line: 1, Column: 26, What: "undefined field 'foo'", Write: "the fields are listed in docs/policy.md"},
		`call`:                             {Line: 1, Column: 1, What: "the condition is no truth value but a call", Write: `compare it with something, as in call.cwd == "/srv"`},
		strings.Repeat("x", 9000):          {Line: 1, Column: 1, What: "the condition has 9000 bytes, it may have 8192"},
		strings.Repeat("(", 200) + "true":  {Line: 1, Column: 1, What: "expression recursion limit exceeded: 50"},
		`call.args["x"] == 1`:              {Line: 1, Column: 16, What: "found no matching overload for '_==_' applied to '(optional_type(dyn), int)'", Write: `an argument may be missing: write call.args.name.orValue("")`},
		`call.commands[0].program == true`: {Line: 1, Column: 26, What: "found no matching overload for '_==_' applied to '(string, bool)'"},
	} {
		c, wrong := condition.Compile(text)
		if c != nil || len(wrong) == 0 || wrong[0] != want {
			t.Errorf("%.60s: %+v, want %+v", text, wrong, want)
		}
	}
}

// TestHolds_isBounded: no input makes a condition run for long.
func TestHolds_isBounded(t *testing.T) {
	c, wrong := condition.Compile(`call.commands.all(a, call.commands.all(b, call.commands.all(c, a.program + b.program == c.program)))`)
	if wrong != nil {
		t.Fatal(wrong)
	}
	in := input()
	in.Call = func() *condition.Call { return &condition.Call{Commands: make([]condition.Command, 3000)} }
	if holds, err := c.Holds(t.Context(), in); err == nil || holds || !strings.Contains(err.Error(), "cost") {
		t.Errorf("%v, %v", holds, err)
	}
}

func TestHolds_fails(t *testing.T) {
	for _, text := range []string{`call.commands[5].program == "x"`, `call.args.n.orValue(0) + "x" == "y"`, `call.args.command.value() > 3`} {
		c, wrong := condition.Compile(text)
		if wrong != nil {
			t.Errorf("%s: %+v", text, wrong)
			continue
		}
		got, err := c.Holds(context.Background(), input())
		if err == nil || got {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func BenchmarkHolds(b *testing.B) {
	c, _ := condition.Compile(`call.commands.exists(c, c.program == "kubectl") && call.cwd.startsWith("/srv")`)
	in := input()
	b.ReportAllocs()
	for b.Loop() {
		c.Holds(context.Background(), in)
	}
}
