package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

type (
	// editedMsg is what the person left in their editor.
	editedMsg struct {
		of   subject
		text []byte
		err  error
	}
	// judgedMsg is what policy says of edited arguments.
	judgedMsg struct {
		of      *editing
		verdict sayso.Verdict
		err     error
	}
)

// openEditor lets the person change the arguments in their editor.
func (m *model) openEditor() tea.Cmd {
	r := m.look.request
	switch {
	case !r.CanEdit:
		m.told = "The host of this call does not take edited arguments."
		return nil
	case !words.Editable(r):
		m.told = "This call holds values that cannot be shown as they are, so it cannot be edited here. Type: sayso approve " + r.ShortID + " --edit=FILE"
		return nil
	}
	return m.editText([]byte(words.Indented(m.look.content.Args)))
}

func (m *model) editText(text []byte) tea.Cmd {
	of := m.subject()
	path, err := draft(text)
	if err == nil {
		cmd, bad := m.o.Editor(path)
		if err = bad; err == nil {
			return tea.ExecProcess(cmd, func(err error) tea.Msg { return edited(of, path, err) })
		}
		os.RemoveAll(filepath.Dir(path))
	}
	m.told = "Not edited: " + words.Safe(err.Error())
	return nil
}

// draft writes a text to a file that nobody else can read.
func draft(text []byte) (path string, err error) {
	dir, err := os.MkdirTemp("", "sayso-edit-") // made with mode 0700
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "arguments.json")
	return path, os.WriteFile(path, text, 0o600)
}

func edited(of subject, path string, err error) tea.Msg {
	defer os.RemoveAll(filepath.Dir(path))
	if err != nil {
		return editedMsg{of: of, err: fmt.Errorf("your editor: %w", err)}
	}
	text, err := os.ReadFile(path)
	return editedMsg{of, text, err}
}

// took has what was written judged, if there is anything to judge.
func (msg editedMsg) took(m *model) tea.Cmd {
	beat := m.guard.changed(m.now)
	if msg.of != m.subject() {
		return beat
	}
	if msg.err != nil {
		m.told = "Not edited: " + words.Safe(msg.err.Error())
		return beat
	}
	args, err := words.Written(msg.text)
	if err != nil {
		return m.ask(&mistaken{msg.text, err})
	}
	if words.Unchanged(m.look.content.Args, args) {
		m.told = "Nothing was changed; not answered."
		return beat
	}
	if m.link != live {
		m.told = "Not connected: the change cannot be judged now."
		return beat
	}
	in, ctx, facts := m.door.Inbox, m.ctx, m.o.Facts
	call := words.EditedCall(m.look.request, args)
	e := &editing{args: args, says: "Policy is asked…"}
	beat = m.ask(e)
	e.layOut(m)
	return tea.Batch(beat, func() tea.Msg {
		v, err := in.Explain(ctx, call, facts(ctx, call))
		return judgedMsg{e, v, err}
	})
}

// deliver shows what policy says of the change, if that is still asked about.
func (msg judgedMsg) deliver(m *model) tea.Cmd {
	e := msg.of
	if m.panel != e {
		return nil
	}
	e.judged, e.danger, e.refused = true, words.EditedDanger(m.look.request, msg.verdict, msg.err), msg.verdict.Effect == sayso.Deny && msg.err == nil
	switch {
	case msg.err != nil:
		e.says = "What policy says of it could not be found out: " + words.Safe(msg.err.Error())
	case e.refused:
		e.says = "Policy denies it like this: " + words.Safe(msg.verdict.Rule)
	default:
		e.says = "Policy was asked again: " + msg.verdict.Effect.String() + ", " + words.Safe(msg.verdict.Rule)
	}
	e.layOut(m)
	return m.guard.changed(m.now)
}

// editing shows what edited arguments change, and asks whether that is meant.
type editing struct {
	pager
	args    sayso.Args
	says    string
	judged  bool // policy was asked
	danger  []sayso.Danger
	refused bool
}

func (*editing) page() bool { return true }

func (e *editing) keys(m *model) string {
	switch {
	case !e.judged:
		return "asking policy…  [e] edit again  [esc] back"
	case e.refused:
		return "[e] edit again  [esc] back"
	case !e.whole:
		return "[space] look at all of it first  [e] edit again  [esc] back"
	}
	return m.ready("[y] allow it with these changes") + "  [e] edit again  [esc] back"
}

func (e *editing) layOut(m *model) {
	style := m.style()
	style.Columns = m.columns
	out := lines(words.Change(m.look.request.ShortID+"  you changed:", m.look.content.Args, e.args), style)
	out = append(out, "")
	out = append(out, wrapped(e.says, m.columns)...)
	if len(e.danger) > 0 && !e.refused {
		out = append(out, m.color(red, "Dangerous: you will be asked to type "+m.look.request.ShortID+"."))
	}
	e.show(out, m.columns)
}

func (e *editing) resize(m *model) tea.Cmd {
	e.layOut(m)
	return nil
}

func (e *editing) draw(_ *model, _, rows int) []string { return e.pager.draw(rows) }

func (e *editing) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	if cmd, ok := m.scrolls(&e.pager, name(k)); ok {
		return cmd
	}
	switch name(k) {
	case "esc":
		m.told = "Not answered."
		m.panel = nil
		return m.redraw()
	case "e":
		return m.editText([]byte(words.Indented(e.args)))
	case "y", "a":
		if !e.judged || e.refused || !e.whole {
			return nil
		}
		return m.act(func() tea.Cmd { return e.send(m) })
	}
	return nil
}

func (e *editing) send(m *model) tea.Cmd {
	if why := m.deaf(); why != "" {
		m.told = why
		return nil
	}
	a := sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeOnce, Args: slices.Clone(e.args)}
	if len(e.danger) > 0 {
		return m.ask(&slow{answer: a, danger: e.danger, back: e})
	}
	return m.send(a)
}

// mistaken asks what to do with a text that is no arguments. What was written is
// not lost.
type mistaken struct {
	text []byte
	err  error
}

func (*mistaken) page() bool { return false }

func (*mistaken) keys(*model) string { return "[e] open it again  [esc] back" }

func (w *mistaken) draw(m *model, columns, _ int) []string {
	return wrapped("These are no arguments: "+words.Safe(w.err.Error())+". Give all of them as one JSON object.", columns)
}

func (w *mistaken) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch name(k) {
	case "esc":
		return m.shut()
	case "e":
		m.panel = nil
		return m.editText(w.text)
	}
	return nil
}
