package sayso

import "github.com/sayso-dev/sayso/internal/jcs"

// Memo is what the writer of an event knows of it: the values that its payload
// and content were made of. Whoever has a copy of the event in the same process
// need not read them again. It is no part of the event: it is not stored and
// not shown, and an event without one reads the same. It never changes.
type Memo struct {
	payload any // the value, or a pointer to it
	shown   any // likewise
	private *RequestedPrivate
	content Content
}

// Wrote returns the memo of an event whose payload was made of the value
// payload, and whose content is content with the value shown as its Shown and
// private, if it is given, as its Private; the first two may be pointers to the
// value. A nil content is none. Nothing of what is given may be changed
// afterwards, nor may the bytes of the event itself, which a log may keep.
func Wrote(payload, shown any, private *RequestedPrivate, content *Content) *Memo {
	m := &Memo{payload: payload, shown: shown, private: private}
	if content != nil {
		m.content = *content
	}
	return m
}

// Equal says that memos do not tell events apart.
func (*Memo) Equal(*Memo) bool { return true }

// read reads the payload of an event and the part of its content that everybody
// sees. Neither may be changed: the memo of the event may hold it.
func read[P, S any](e *Event) (*P, *S, error) {
	p, err := readPayload[P](e)
	if err != nil {
		return nil, nil, err
	}
	s, err := readShown[S](e)
	return p, s, err
}

// readPayload reads the payload of an event, which may not be changed.
func readPayload[P any](e *Event) (*P, error) {
	if e.Memo != nil {
		if p, ok := remembered[P](e.Memo.payload); ok {
			return p, nil
		}
	}
	p := new(P)
	return p, jcs.UnmarshalLenient(e.Payload, p)
}

// readShown reads the part of an event's content that everybody sees, which may
// not be changed. It is zero if there is none or it was erased.
func readShown[S any](e *Event) (*S, error) {
	if e.Content != nil && e.Memo != nil {
		if s, ok := remembered[S](e.Memo.shown); ok {
			return s, nil
		}
	}
	s := new(S)
	c, err := e.content()
	if err != nil || len(c.Shown) == 0 {
		return s, err
	}
	return s, jcs.UnmarshalLenient(c.Shown, s)
}

// asked is the call that an event tells of, as its writer remembers it; nil if
// it is not remembered or was erased.
func (e *Event) asked() *RequestedPrivate {
	if e.Content == nil || e.Memo == nil {
		return nil
	}
	return e.Memo.private
}

// remembered returns a remembered value, if it is of this type.
func remembered[V any](known any) (*V, bool) {
	switch v := known.(type) {
	case *V:
		return v, true
	case V:
		return &v, true
	}
	return nil, false
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
