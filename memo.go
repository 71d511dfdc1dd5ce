package sayso

import "github.com/sayso-dev/sayso/internal/jcs"

// Memo is what the writer of an event knows of it: the values that its payload
// and content were made of. Whoever has a copy of the event in the same process
// need not read them again. It is no part of the event: it is not stored and
// not shown, and an event without one reads the same. It never changes.
type Memo struct {
	payload any // the value, not a pointer to it
	shown   any
	content Content
}

// Wrote returns the memo of an event whose payload was made of the value
// payload, and whose content is content with the value shown as its Shown. A
// nil content is none. Nothing of what is given may be changed afterwards.
func Wrote(payload, shown any, content *Content) *Memo {
	m := &Memo{payload: payload, shown: shown}
	if content != nil {
		m.content = *content
	}
	return m
}

// Equal says that memos do not tell events apart.
func (*Memo) Equal(*Memo) bool { return true }

// read reads the payload of an event and the part of its content that everybody
// sees.
func read[P, S any](e *Event, payload *P, shown *S) error {
	if err := readPayload(e, payload); err != nil {
		return err
	}
	return readShown(e, shown)
}

// readPayload reads the payload of an event.
func readPayload[P any](e *Event, into *P) error {
	if e.Memo != nil {
		if v, ok := e.Memo.payload.(P); ok {
			*into = v
			return nil
		}
	}
	return jcs.UnmarshalLenient(e.Payload, into)
}

// readShown reads the part of an event's content that everybody sees, and
// leaves into as it is if there is none or it was erased.
func readShown[S any](e *Event, into *S) error {
	if e.Content != nil && e.Memo != nil {
		if v, ok := e.Memo.shown.(S); ok {
			*into = v
			return nil
		}
	}
	c, err := e.content()
	if err != nil || len(c.Shown) == 0 {
		return err
	}
	return jcs.UnmarshalLenient(c.Shown, into)
}

// content takes the content of an event apart; there is nothing in it if it was
// erased.
func (e *Event) content() (c Content, err error) {
	switch {
	case e.Content == nil:
		return c, nil
	case e.Memo != nil && e.Memo.shown != nil:
		return e.Memo.content, nil
	}
	return c, jcs.UnmarshalLenient(e.Content, &c)
}
