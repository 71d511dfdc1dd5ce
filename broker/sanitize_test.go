package broker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

// What hides in the words around a call is warned of as what hides in its
// arguments is, with the place where it stands.
func TestWarnings_ofTheTextsAroundACall(t *testing.T) {
	const reversed, invisible, cyrillic = "a\u202eb", "a\u200bb", "d\u0435ploy"
	for path, put := range map[string]func(a *sayso.Admission){
		"said/description": func(a *sayso.Admission) { a.Call.Said = map[string]string{"description": reversed} },
		"description":      func(a *sayso.Admission) { a.Call.Description = invisible },
		"cwd":              func(a *sayso.Admission) { a.Call.Cwd = "/" + invisible },
		"caller":           func(a *sayso.Admission) { a.Call.Caller = reversed },
		"tool":             func(a *sayso.Admission) { a.Call.Tool = cyrillic },
		"server":           func(a *sayso.Admission) { a.Call.Server = cyrillic },
		"presentation": func(a *sayso.Admission) {
			a.Ask = &sayso.ToolAsk{Required: true, Presentation: shows(reversed, "")}
		},
		"presentation/path": func(a *sayso.Admission) {
			a.Ask = &sayso.ToolAsk{Required: true, Presentation: shows("x", invisible)}
		},
		"/command": func(a *sayso.Admission) { a.Call.Args = args(`{"command":%q}`, reversed) },
		"":         func(*sayso.Admission) {},
	} {
		t.Run(path, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				a := patient("c1", time.Second)
				put(&a)
				a.Asking = a.Ask != nil
				_, err := w.b.Gate(program).Admit(t.Context(), a)
				wantErr(t, err, sayso.ErrPending)
				var paths, want []string
				for _, found := range w.onlyOpen().Warnings {
					if found.Text == "" {
						t.Errorf("the warning %+v says nothing", found)
					}
					paths = append(paths, found.Path)
				}
				switch path {
				case "":
				case "cwd": // it stands twice: at the call, and at its command
					want = []string{"presentation/cwd", "cwd"}
				default:
					want = []string{path}
				}
				if diff := cmp.Diff(want, paths); diff != "" {
					t.Errorf("warned of (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A document may hold markup without a warning; words may not.
func TestWarnings_ofMarkup(t *testing.T) {
	for kind, want := range map[sayso.PresentationType]int{sayso.PresentDiff: 0, sayso.PresentText: 1} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			a := patient("c1", time.Second)
			a.Asking, a.Ask = true, &sayso.ToolAsk{Required: true, Presentation: &sayso.Presentation{
				Type: kind, Content: "<script>alert(1)</script>",
			}}
			_, err := w.b.Gate(program).Admit(t.Context(), a)
			wantErr(t, err, sayso.ErrPending)
			if got := w.onlyOpen().Warnings; len(got) != want {
				t.Errorf("%s: %+v", kind, got)
			}
		})
	}
}

// The names beside a presentation are the requester's, as its texts are.
func TestPresentation_names(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		r, shown := asksWith(t, w, &sayso.Presentation{
			Type: sayso.PresentText, Content: "x", Metadata: map[string]string{"a\u202eb": "y"},
		})
		if diff := cmp.Diff(map[string]string{`a\u{202e}b`: "y"}, shown.Metadata); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]sayso.Warning{{Kind: sayso.WarnBidi, Path: "presentation", Text: "U+202E"}}, r.Warnings); diff != "" {
			t.Errorf("warned of (-want +got):\n%s", diff)
		}
	})
}
