package tool_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// inner is a set of tools that writes down how it is called.
type inner struct {
	did  []string
	ctx  context.Context
	call func(context.Context, sayso.Call) (tool.Result, error)
}

func (s *inner) Call(ctx context.Context, c sayso.Call) (tool.Result, error) {
	s.did = append(s.did, "Call "+c.Tool+" "+string(c.Args))
	s.ctx = ctx
	if s.call != nil {
		return s.call(ctx, c)
	}
	return tool.Result{Text: "result of " + c.Tool}, nil
}

type describes struct{ *inner }

func (s describes) Tools() []tool.Definition {
	s.inner.did = append(s.inner.did, "Tools")
	return []tool.Definition{{Name: "deploy"}}
}

type asks struct{ *inner }

func (s asks) Ask(_ context.Context, c sayso.Call) (*tool.Ask, error) {
	s.inner.did = append(s.inner.did, "Ask "+c.Tool)
	return &tool.Ask{ToolAsk: sayso.ToolAsk{Description: "asked by itself"}}, nil
}

type closes struct{ *inner }

func (s closes) Close() error {
	s.inner.did = append(s.inner.did, "Close")
	return errBroken
}

// streams has a way to run tools that no gate is in front of.
type streams struct{ *inner }

func (s streams) Stream(context.Context, sayso.Call) error { return nil }

// optional are the interfaces that a set may have besides, by name.
var optional = map[string]reflect.Type{
	"Describer": reflect.TypeFor[tool.Describer](), "Asker": reflect.TypeFor[tool.Asker](), "Closer": reflect.TypeFor[io.Closer](),
}

// combinations are sets with each combination of the optional interfaces.
func combinations(s *inner) []tool.Set {
	d, a, c := describes{s}, asks{s}, closes{s}
	return []tool.Set{
		s,
		struct {
			tool.Set
			tool.Describer
		}{s, d},
		struct {
			tool.Set
			tool.Asker
		}{s, a},
		struct {
			tool.Set
			io.Closer
		}{s, c},
		struct {
			tool.Set
			tool.Describer
			tool.Asker
		}{s, d, a},
		struct {
			tool.Set
			tool.Describer
			io.Closer
		}{s, d, c},
		struct {
			tool.Set
			tool.Asker
			io.Closer
		}{s, a, c},
		struct {
			tool.Set
			tool.Describer
			tool.Asker
			io.Closer
		}{s, d, a, c},
	}
}

// TestWrap_passesThrough calls every method of every optional interface of every
// combination of them, on the set and on the wrapped set, and compares.
func TestWrap_passesThrough(t *testing.T) {
	seen := map[string]bool{}
	for n := range 1 << len(optional) {
		s := &inner{}
		set := combinations(s)[n]
		wrapped := tool.Wrap(&fake{}, set, nil)
		which := ""
		for _, name := range slices.Sorted(maps.Keys(optional)) {
			i := optional[name]
			has, passes := reflect.TypeOf(set).Implements(i), reflect.TypeOf(wrapped).Implements(i)
			if has != passes {
				t.Errorf("combination %d: %s is %v inside and %v outside", n, name, has, passes)
			}
			if !has || !passes {
				continue
			}
			which += name
			for m := range i.NumMethod() {
				compare(t, s, i.Method(m), set, wrapped)
			}
		}
		seen[which] = true
	}
	if len(seen) != 1<<len(optional) {
		t.Errorf("%d combinations were looked at: %v", len(seen), seen)
	}
}

// compare calls one method on both, with the same arguments.
func compare(t *testing.T, s *inner, m reflect.Method, set, wrapped tool.Set) {
	t.Helper()
	call := func(on tool.Set) (did []string, out []reflect.Value) {
		s.did = nil
		var in []reflect.Value
		for i := range m.Type.NumIn() {
			in = append(in, sample(t, m.Type.In(i)))
		}
		out = reflect.ValueOf(on).MethodByName(m.Name).Call(in)
		return s.did, out
	}
	didA, outA := call(set)
	didB, outB := call(wrapped)
	if !reflect.DeepEqual(didA, didB) || len(didA) != 1 {
		t.Errorf("%s: did %v inside and %v outside", m.Name, didA, didB)
	}
	for i := range outA {
		if !reflect.DeepEqual(outA[i].Interface(), outB[i].Interface()) {
			t.Errorf("%s: returned %v inside and %v outside", m.Name, outA[i], outB[i])
		}
	}
}

// sample is an argument of a type.
func sample(t *testing.T, of reflect.Type) reflect.Value {
	switch of {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(t.Context())
	case reflect.TypeFor[sayso.Call]():
		return reflect.ValueOf(aCall())
	}
	t.Fatalf("no sample of %s", of)
	return reflect.Value{}
}

// TestWrap_noOtherMethods: what the wrapped set can do besides is in none of its
// methods, so that nothing that runs tools passes unseen.
func TestWrap_noOtherMethods(t *testing.T) {
	known := map[string]bool{"Call": true}
	for _, i := range optional {
		for m := range i.NumMethod() {
			known[i.Method(m).Name] = true
		}
	}
	for n := range 8 {
		w := reflect.TypeOf(tool.Wrap(&fake{}, combinations(&inner{})[n], nil))
		for m := range w.NumMethod() {
			if name := w.Method(m).Name; !known[name] {
				t.Errorf("combination %d has a method %s", n, name)
			}
		}
	}
	if _, ok := tool.Wrap(&fake{}, streams{&inner{}}, nil).(interface {
		Stream(context.Context, sayso.Call) error
	}); ok {
		t.Error("a way to run tools passes that no gate is in front of")
	}
}

func TestAs(t *testing.T) {
	in := streams{&inner{}}
	w := tool.Wrap(&fake{}, in, nil)
	if got, ok := tool.As[streams](w); !ok || got != in {
		t.Errorf("got %v, %v", got, ok)
	}
	if _, ok := tool.As[io.Closer](w); ok {
		t.Error("found what is not there")
	}
}

// TestWrap_call: every call goes through the gate, with the set's own ask, or
// with one that requires an answer.
func TestWrap_call(t *testing.T) {
	for n := range 8 {
		g, s := &fake{}, &inner{}
		set := combinations(s)[n]
		w := tool.Wrap(g, set, &tool.Terms{Call: sayso.Call{Session: "s", Caller: "main", Cwd: "/"}})
		r, err := w.Call(t.Context(), sayso.Call{Tool: "deploy", Args: sayso.Args(`{"to":"x"}`)})
		if r.Text != "result of deploy" || err != nil {
			t.Errorf("combination %d: got %+v, %v", n, r, err)
		}
		g.did(t, "admit deploy", "redeem deploy", "report")
		a := g.admitted[0]
		if a.Call.Session != "s" || a.Call.Caller != "main" || a.Facts.Cwd != "/" {
			t.Errorf("combination %d: admitted %+v with facts %+v", n, a.Call, a.Facts)
		}
		if _, own := set.(tool.Asker); own != (a.Ask.Description == "asked by itself") || own == a.Ask.Required {
			t.Errorf("combination %d asks %+v", n, a.Ask)
		}
	}
}

// TestWrap_error, _panic and _context: what the tool does is the caller's, as if
// there were no gate.
func TestWrap_error(t *testing.T) {
	g := &fake{}
	w := tool.Wrap(g, &inner{call: func(context.Context, sayso.Call) (tool.Result, error) { return tool.Result{Text: "half"}, errBroken }}, nil)
	var stopped *tool.StoppedError
	if r, err := w.Call(t.Context(), aCall()); err != errBroken || r.Text != "half" || errors.As(err, &stopped) {
		t.Errorf("got %+v, %v", r, err)
	}
	if !g.outcomes[0].Failed {
		t.Errorf("reported %+v", g.outcomes[0])
	}
}

func TestWrap_panic(t *testing.T) {
	g := &fake{}
	w := tool.Wrap(g, &inner{call: func(context.Context, sayso.Call) (tool.Result, error) { panic(errBroken) }}, nil)
	defer func() {
		if p := recover(); p != errBroken {
			t.Errorf("recovered %v", p)
		}
		g.did(t, "admit deploy", "redeem deploy", "report")
		if !g.outcomes[0].Failed {
			t.Errorf("reported %+v", g.outcomes[0])
		}
	}()
	_, _ = w.Call(t.Context(), aCall())
}

type key struct{}

func TestWrap_context(t *testing.T) {
	g := &fake{}
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
	defer cancel(nil)
	w := tool.Wrap(g, &inner{call: func(ctx context.Context, _ sayso.Call) (tool.Result, error) {
		if ctx.Value(key{}) != "value" {
			t.Error("the tool has another context")
		}
		cancel(errBroken)
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	}}, nil)
	if _, err := w.Call(ctx, aCall()); err != errBroken {
		t.Errorf("got %v", err)
	}
	if o := g.outcomes[0]; !o.Interrupt || !o.Failed {
		t.Errorf("reported %+v", o)
	}
}

// TestWrap_denied: the tool is not called.
func TestWrap_denied(t *testing.T) {
	s := &inner{}
	g := &fake{decide: func(sayso.Admission) (sayso.Decision, error) { return sayso.Decision{}, nil }}
	_, err := tool.Wrap(g, s, nil).Call(t.Context(), aCall())
	if !errors.Is(err, sayso.ErrNotAllowed) || len(s.did) != 0 {
		t.Errorf("did %v, %v", s.did, err)
	}
}

// TestWrap_twice: a gate behind a gate asks once more under the same call id,
// and is refused; it does not run twice, or unasked.
func TestWrap_twice(t *testing.T) {
	s := &inner{}
	b := saysotest.New(t, saysotest.ApproveAll())
	w := tool.Wrap(b.Gate(), tool.Wrap(b.Gate(), s, nil), nil)
	if _, err := w.Call(t.Context(), aCall()); !errors.Is(err, sayso.ErrSpent) || len(s.did) != 0 {
		t.Errorf("did %v, %v", s.did, err)
	}
}

func TestJoin(t *testing.T) {
	a, b := &inner{}, &inner{}
	one := struct {
		tool.Set
		tool.Describer
		tool.Asker
		io.Closer
	}{a, describes{a}, asks{a}, closes{a}}
	if _, err := tool.Join(one, one); !has(err, "two are called deploy") {
		t.Errorf("got %v", err)
	}
	if _, err := tool.Join(b); !has(err, "does not describe") {
		t.Errorf("got %v", err)
	}
	f := tool.Guard(&fake{}, "send", send, nil)
	set, err := tool.Join(one, f)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := set.Call(t.Context(), aCall()); err != nil || r.Text != "result of deploy" {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := set.Call(t.Context(), sayso.Call{Tool: "other"}); !errors.Is(err, sayso.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if n := len(set.(tool.Describer).Tools()); n != 2 {
		t.Errorf("%d tools", n)
	}
	if err := set.(io.Closer).Close(); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
	g := &fake{}
	if _, err := tool.Wrap(g, set, nil).Call(t.Context(), aCall()); err != nil || g.admitted[0].Ask.Description != "asked by itself" {
		t.Errorf("asked %+v, %v", g.admitted, err)
	}
}
