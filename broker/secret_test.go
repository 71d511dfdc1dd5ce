package broker_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// readerViews is everything that anybody but the requester can see.
func (w *harness) readerViews(id sayso.ID) map[string]string {
	w.t.Helper()
	shown := map[string]string{}
	put := func(name string, v any, err error) {
		if err != nil {
			shown[name] = err.Error()
			return
		}
		text, err := jcs.Marshal(v)
		if err != nil {
			w.t.Fatal(err)
		}
		shown[name] = string(text)
	}
	ctx := context.Background()
	for _, who := range []sayso.Actor{dev, admin, viewer, stranger} {
		in := w.b.Inbox(who)
		r, err := in.Request(ctx, string(id))
		put(who.Principal+" request", r, err)
		full, err := in.Content(ctx, id)
		put(who.Principal+" content", full, err)
		life, err := in.Life(ctx, id)
		put(who.Principal+" life", life, err)
		rs, err := in.Requests(ctx, sayso.RowQuery{})
		put(who.Principal+" requests", rs, err)
		gs, err := in.Grants(ctx, "", true)
		put(who.Principal+" grants", gs, err)
	}
	for _, e := range w.allEvents() {
		public, err := e.Public()
		put(fmt.Sprint("event ", e.Seq, " ", e.Type), public, err)
		shown[fmt.Sprint("payload ", e.Seq, " ", e.Type)] = string(e.Payload)
	}
	return shown
}

// expectHidden fails the test if a canary, or a part of it, is on any surface.
func (w *harness) expectHidden(t *testing.T, id sayso.ID, canaries ...string) {
	t.Helper()
	for where, text := range w.readerViews(id) {
		for _, c := range canaries {
			for i := 0; i+8 <= len(c); i++ {
				if part := c[i : i+8]; strings.Contains(text, part) {
					t.Errorf("%s shows %q of %s: %s", where, part, c, text)
					break
				}
			}
		}
	}
}

func TestSecrets_areOnNoSurface(t *testing.T) {
	n := 0
	canary := func() string { n++; return fmt.Sprintf("Zq%dXk7Wv%dNp3Ty%d", n+10, n*n+100, n*7+300) }
	for name, put := range map[string]func(a *sayso.Admission, c string){
		"a member":        func(a *sayso.Admission, c string) { a.Call.Args = args(`{"password":%q}`, c) },
		"a nested member": func(a *sayso.Admission, c string) { a.Call.Args = args(`{"env":[{"API_KEY":%q}]}`, c) },
		"a command line": func(a *sayso.Admission, c string) {
			a.Call.Args = args(`{"command":%q}`, "curl -H 'Authorization: Bearer "+c+"' x")
		},
		"an assignment":   func(a *sayso.Admission, c string) { a.Call.Args = args(`{"command":%q}`, "TOKEN="+c+" make") },
		"a document":      func(a *sayso.Admission, c string) { a.Call.Args = args(`{"content":%q}`, "user: a\npassword: "+c+"\n") },
		"an address":      func(a *sayso.Admission, c string) { a.Call.Args = args(`{"url":%q}`, "https://u:"+c+"@example.org/") },
		"the description": func(a *sayso.Admission, c string) { a.Call.Description = "deploy with password=" + c },
		"what is said":    func(a *sayso.Admission, c string) { a.Call.Said = map[string]string{"description": "token: " + c} },
		"the directory":   func(a *sayso.Admission, c string) { a.Call.Cwd = "/x?token=" + c },
		"the caller":      func(a *sayso.Admission, c string) { a.Call.Caller = "agent token=" + c },
		"metadata":        func(a *sayso.Admission, c string) { a.Call.Metadata = map[string]any{"note": c} },
		"tags":            func(a *sayso.Admission, c string) { a.Call.Tags = []string{c} },
		"facts":           func(a *sayso.Admission, c string) { a.Facts.Workspace = "/" + c },
		"display": func(a *sayso.Admission, c string) {
			a.Ask = &sayso.ToolAsk{Required: true, Display: args(`{"secret":%q}`, c)}
		},
		"under display": func(a *sayso.Admission, c string) {
			a.Call.Args = args(`{"x":%q}`, c)
			a.Ask = &sayso.ToolAsk{Required: true, Display: args(`{"x":%q}`, "hidden")}
		},
		"an asked text": func(a *sayso.Admission, c string) {
			a.Ask = &sayso.ToolAsk{Required: true, Description: "api_key=" + c}
		},
		"a payload": func(a *sayso.Admission, c string) {
			a.Ask = &sayso.ToolAsk{Required: true, Payload: args(`{"k":%q}`, c)}
		},
		"a presentation": func(a *sayso.Admission, c string) {
			a.Ask = &sayso.ToolAsk{Required: true, Presentation: shows("+ password: "+c, "")}
		},
		"its metadata": func(a *sayso.Admission, c string) {
			a.Ask = &sayso.ToolAsk{Required: true, Presentation: shows("x", "token="+c)}
		},
		"a late one": func(a *sayso.Admission, c string) { a.Present = presents(shows("secret="+c, "")) },
		"twice": func(a *sayso.Admission, c string) {
			a.Call.Args = args(`{"password":%q,"n":1}`, c)
			a.Call.Description = "logs in with " + c
		},
		"in the file name": func(a *sayso.Admission, c string) {
			a.Call.Args = args(`{"password":%q}`, c)
			a.Present = presents(shows("diff", c))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				c, a := canary(), patient("c1", time.Second)
				put(&a, c)
				a.Asking = a.Ask != nil
				_, err := w.b.Gate(program).Admit(t.Context(), a)
				wantErr(t, err, sayso.ErrPending)
				if err != nil && strings.Contains(err.Error(), c) {
					t.Errorf("the error shows it: %v", err)
				}
				r := w.onlyOpen()
				w.expectHidden(t, r.ID, c)
				ans := answer(r, sayso.Deny)
				ans.Note = "never put password=" + c + " there"
				if _, err := w.answer(dev, r.ID, ans); err != nil {
					t.Fatal(err)
				}
				w.expectHidden(t, r.ID, c)
			})
		})
	}
}

func args(format, value string) sayso.Args { return sayso.Args(fmt.Sprintf(format, value)) }

func shows(content, meta string) *sayso.Presentation {
	return &sayso.Presentation{Type: sayso.PresentText, Content: content, Metadata: map[string]string{"path": meta}}
}

func presents(p *sayso.Presentation) func(context.Context) (*sayso.Presentation, error) {
	return func(context.Context) (*sayso.Presentation, error) { return p, nil }
}

func TestSecrets_inTheReasonOfAWithdrawal(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		a := patient("c1", time.Second)
		a.Call.Args = args(`{"password":%q}`, "Zq81Xk7Wv99Np3")
		w.admit(a)
		r := w.onlyOpen()
		if err := w.b.Gate(agent).Withdraw(t.Context(), r.ID, "Zq81Xk7Wv99Np3 was wrong, token=Zq82Xk7Wv99Np4"); err != nil {
			t.Fatal(err)
		}
		w.expectHidden(t, r.ID, "Zq81Xk7Wv99Np3", "Zq82Xk7Wv99Np4")
		if got := w.lastPayload(sayso.EventWithdrawn); !strings.Contains(got, "was wrong") {
			t.Errorf("the reason is not shown: %s", got)
		}
	})
}

func TestSecrets_inErrors(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		const c = "Zq81Xk7Wv99Np3"
		for _, text := range []string{
			`{"password":"` + c + `","password":"` + c + `"}`, `{"password":"` + c, `["` + c + `"]`, `{"a":"` + c + `\ud800"}`,
		} {
			_, err := w.admit(sayso.Admission{Call: sayso.Call{Tool: "bash", Args: sayso.Args(text), Session: "s1"}})
			if err == nil || strings.Contains(err.Error(), c) || strings.Contains(sayso.Told(sayso.Decision{}, err), c) {
				t.Errorf("the error shows the value: %v", err)
			}
		}
		w.ask(t.Context(), editable(push("c1")))
		r := w.onlyOpen()
		_, err := w.answer(dev, r.ID, edited(r, `{"password":"`+c))
		if err == nil || strings.Contains(err.Error(), c) {
			t.Errorf("the error shows the value: %v", err)
		}
	})
}
