package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// deliver makes one attempt to bring a letter to its target. An error is a
// [*Failure], errMoot, or one of the log.
func (o *Outbox) deliver(ctx context.Context, t Target, l *Letter, e *sayso.Event) error {
	m, err := o.compose(ctx, &t, l, e)
	if errors.Is(err, sayso.ErrNotFound) {
		return errMoot
	}
	if err != nil {
		return err
	}
	if t.Chat != nil {
		return o.tell(ctx, &t, l, &m)
	}
	body, err := jcs.Marshal(m)
	if err != nil {
		return err
	}
	where, err := held(t.Webhook)
	if err != nil {
		return err
	}
	secrets, err := held(t.Secret)
	if err != nil {
		return err
	}
	return post(ctx, o.client, where, secrets, string(l.Event), o.o.Now(), body)
}

// tell sends a text to a chat. Nobody there is called to what no longer waits.
func (o *Outbox) tell(ctx context.Context, t *Target, l *Letter, m *Message) error {
	if l.Kind == Opened && !m.Data.Request.State.Open() {
		return errMoot
	}
	where, err := held(t.Chat)
	if err != nil {
		return err
	}
	if o.o.Chat == nil {
		return &Failure{Why: "this program cannot send to chats", Final: true}
	}
	return o.o.Chat(ctx, where, chatText(t, l, m))
}

// held returns what is kept elsewhere.
func held(from func() (string, error)) (string, error) {
	if from == nil {
		return "", &Failure{Why: "the target is not whole"}
	}
	s, err := from()
	if err != nil {
		return "", &Failure{Why: err.Error()} // which names a file or a variable, and not what is in it
	}
	return s, nil
}

// Test sends a notice that is none to a target, now, and does not keep it.
func (o *Outbox) Test(ctx context.Context, name string) error {
	if _, err := o.refresh(); err != nil {
		return err
	}
	t, ok := o.target(name)
	if !ok {
		return fmt.Errorf("%w: the policy has no notice called %s", sayso.ErrNotFound, name)
	}
	now := o.o.Now()
	id := newID(now)
	return o.deliver(ctx, t, &Letter{ID: id, Event: id, Target: name, Kind: Tested, Made: now}, nil)
}
