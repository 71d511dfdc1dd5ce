package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

func (a *app) promptCommand() *cobra.Command {
	return &cobra.Command{
		Use: "prompt [ID]", GroupID: "answer", Short: "asks about one request after the other, or about the one that is named", Args: cobra.MaximumNArgs(1),
		Long: `Shows one request and takes one key: y allows it once, s remembers it for the
session and asks how far, n and Escape deny it, e changes the arguments, v shows everything.
Then it goes on to the next, the oldest first, until nothing waits; with an ID it
asks about that one alone. Ctrl-C leaves; so does Escape where a line is typed, and
then the request still waits. Nothing happens by default, and what was typed before
is no answer: the keys are named once they count, when none was pressed for a moment.`,
		RunE: func(c *cobra.Command, args []string) error { return a.prompt(c.Context(), strings.Join(args, "")) },
	}
}

func (a *app) prompt(ctx context.Context, typed string) error {
	if err := a.refuseAgentAtAll(ctx, typed); err != nil {
		return err
	}
	if _, ok := a.terminal(); !ok {
		return hint(errNoTerminal, "sayso inbox, sayso approve ID, sayso deny ID")
	}
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		if typed == "" {
			return a.promptForAll(ctx, in)
		}
		return a.promptForOne(ctx, in, typed)
	})
}

func (a *app) promptForOne(ctx context.Context, in sayso.Inbox, typed string) error {
	s, err := look(ctx, in, typed)
	if err != nil {
		return err
	}
	_, err = a.promptFor(ctx, in, s)
	if errors.Is(err, errElsewhere) {
		return a.wasFirst(ctx, in, s.Request)
	}
	return err
}

// wasFirst says who was first.
func (a *app) wasFirst(ctx context.Context, in sayso.Inbox, r sayso.Request) error {
	now, err := in.Request(ctx, string(r.ID))
	if err != nil {
		return err
	}
	d := sayso.Decision{Request: r.ID, State: now.State}
	if now.Decision != nil {
		d = *now.Decision
	}
	return errors.Join(a.decision(d, words.TooLate(now, d)), no{})
}

// promptForAll asks about one request after the other. What was asked about and
// still waits, for somebody else's answer too, is not asked about again.
func (a *app) promptForAll(ctx context.Context, in sayso.Inbox) error {
	asked := map[sayso.ID]bool{}
	for {
		list, err := in.Requests(ctx, sayso.RowQuery{States: sayso.OpenStates(), Oldest: true})
		if err != nil {
			return err
		}
		next := slices.IndexFunc(list, func(r sayso.Request) bool { return !asked[r.ID] })
		if next < 0 {
			if len(list) > 0 {
				a.note("nothing else waits")
				return nil
			}
			a.note("nothing waits")
			return nil
		}
		id := list[next].ID
		asked[id] = true
		if err := a.promptForOne(ctx, in, string(id)); err != nil && !errors.Is(err, no{}) {
			return err // no: it was decided elsewhere, which has been said
		}
	}
}

// refuseAgentAtAll refuses under an agent, with or without an id.
func (a *app) refuseAgentAtAll(ctx context.Context, typed string) error {
	if typed != "" {
		return a.refuseAgent(ctx, typed, sayso.Allow)
	}
	return a.noAgent("answering")
}

// promptLines is how much of a call the prompt shows before v is pressed.
const promptLines = 40

// errElsewhere says that a request was decided elsewhere while it was asked about.
var errElsewhere = errors.New("decided elsewhere")

// promptFor asks about one request and records the answer. answered is false
// if the person left without one. It stops asking with errElsewhere when the
// request is decided elsewhere.
func (a *app) promptFor(ctx context.Context, in sayso.Inbox, s shownRequest) (answered bool, err error) {
	asking, stop, err := untilDecided(ctx, in, s.Request.ID)
	if err != nil {
		return false, err
	}
	answer, err := a.asked(asking, in, s)
	elsewhere := asking.Err() != nil && ctx.Err() == nil
	stop() // our own answer would end the asking, too
	switch {
	case err != nil && elsewhere:
		return false, errElsewhere
	case err != nil:
		return false, err
	}
	return true, a.record(ctx, in, s.Request, answer)
}

// asked asks until there is an answer.
func (a *app) asked(ctx context.Context, in sayso.Inbox, s shownRequest) (answer sayso.Answer, err error) {
	seen := a.drawBox(s, promptLines)
	for {
		key, err := a.key(ctx, choices(s.Request, seen))
		if err != nil {
			return answer, err
		}
		answer = sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeOnce}
		switch {
		case key == "v":
			seen = a.drawBox(s, 0)
			continue
		case key == "n" || key == "esc":
			answer = sayso.Answer{Effect: sayso.Deny}
		case !seen:
			continue // not before all of it was on the screen
		case key == "s":
			answer.Scope = sayso.ScopeSession
			cover, ok, err := a.chooseCover(ctx, s.Request.Covers)
			if err != nil {
				return answer, err
			}
			if answer.Cover = cover; !ok {
				continue
			}
		case key == "e" && s.Request.CanEdit:
		case key != "y":
			continue
		}
		if ok, err := a.completed(ctx, in, s, key, &answer); ok || err != nil {
			return answer, err
		}
	}
}

// untilDecided returns a context that ends when a request is decided, and at once
// if it is.
func untilDecided(ctx context.Context, in sayso.Inbox, id sayso.ID) (context.Context, context.CancelFunc, error) {
	head, err := in.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	r, err := in.Request(ctx, string(id)) // read after the head, so that nothing falls between
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	if !r.State.Open() {
		stop()
		return ctx, stop, nil
	}
	go func() { // ends with ctx
		for e, err := range in.Follow(ctx, head.Seq, sayso.EventQuery{Request: id}) {
			if err != nil {
				return // the answer tells what is wrong
			}
			if e.Type.Terminal() {
				stop()
				return
			}
		}
	}()
	return ctx, stop, nil
}

// completed asks for what a key leaves open: the words of a denial, the edited
// arguments, the slow answer. ok is false if it is to be asked again.
func (a *app) completed(ctx context.Context, in sayso.Inbox, s shownRequest, key string, answer *sayso.Answer) (ok bool, err error) {
	switch key {
	case "esc":
		return true, nil
	case "n":
		answer.Note, err = a.line(ctx, "what to tell the agent (enter for nothing):")
		return err == nil, err
	case "e":
		return a.edit(ctx, in, s, answer)
	}
	if len(s.Request.Danger) == 0 {
		return true, nil
	}
	ok, err = a.slowly(ctx, s.Request, s.Request.Danger, "allow it?")
	if err == nil && !ok {
		a.note("not answered; %s still waits", s.Request.ShortID)
	}
	return ok, err
}

// edit lets the person change the arguments, shows what they changed, and asks
// whether that is meant. ok is false if nothing was changed or it is not.
func (a *app) edit(ctx context.Context, in sayso.Inbox, s shownRequest, answer *sayso.Answer) (ok bool, err error) {
	args, err := a.edited(ctx, s, inEditor)
	if err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		a.exit(err)
		return false, nil
	}
	if words.Unchanged(s.Content.Args, args) {
		a.note("nothing was changed; not answered")
		return false, nil
	}
	a.drawEdit(s, args)
	ok, err = a.slowly(ctx, s.Request, a.dangerOf(ctx, in, s, args), "allow it with these changes?")
	if err == nil && !ok {
		a.note("not answered; %s still waits", s.Request.ShortID)
	}
	answer.Args = args
	return ok, err
}

// choices is the line of keys.
func choices(r sayso.Request, seen bool) string {
	if !seen {
		return "[n] deny  [v] view all of it first  [esc] deny"
	}
	line := "[y] allow  [n] deny  "
	if len(r.Covers) > 0 {
		line += "[s] session  "
	}
	line += "[v] view  "
	if r.CanEdit {
		line += "[e] edit  "
	}
	return line + "[esc] deny"
}

// slowly asks for a yes. What is dangerous is not allowed by one key: the
// ticket has to be typed.
func (a *app) slowly(ctx context.Context, r sayso.Request, danger []sayso.Danger, question string) (bool, error) {
	if len(danger) == 0 {
		return a.confirm(ctx, question)
	}
	typed, err := a.line(ctx, question+" Dangerous: "+strings.Join(present.Dangers(danger), ", ")+". Type "+r.ShortID+" to go on:")
	if err == nil && typed != "" && typed != r.ShortID {
		a.note("that is not %s: it was mistyped, or is another request", r.ShortID)
	}
	return typed == r.ShortID, err
}

// dangerOf is what is dangerous about a call with edited arguments.
func (a *app) dangerOf(ctx context.Context, in sayso.Inbox, s shownRequest, args sayso.Args) []sayso.Danger {
	call := words.EditedCall(s.Request, args)
	v, err := in.Explain(ctx, call, a.facts(ctx, call))
	return words.EditedDanger(s.Request, v, err)
}
