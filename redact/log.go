package redact

import (
	"context"
	"fmt"
	"log/slog"
)

// ours redacts our own words: default rules, but session is one of our words.
var ours = New(nil)

// Scrub hides secrets in a text of our own, such as a log line, an error or
// the output of a crash, by the default rules. Our own session names stay
// visible.
func Scrub(s string) string {
	c := newCall(ours)
	c.ours = true
	n := node{kind: '"', text: s}
	c.finder.text(s, n.hide, 0)
	c.table.build()
	return c.text(&n, nil, "")
}

// LogHandler returns a handler that scrubs what it passes on to next: messages,
// texts, errors and whatever else prints as text. An attribute under a telling
// name is hidden whole, save our own session names.
func LogHandler(next slog.Handler) slog.Handler {
	return logHandler{next}
}

type logHandler struct{ next slog.Handler }

func (h logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, Scrub(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(scrubAttr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = scrubAttr(a)
	}
	return logHandler{h.next.WithAttrs(clean)}
}

func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.next.WithGroup(name)}
}

func scrubAttr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		group := v.Group()
		clean := make([]slog.Attr, len(group))
		for i, g := range group {
			clean[i] = scrubAttr(g)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(clean...)}
	case slog.KindString, slog.KindAny:
		return slog.String(a.Key, scrubNamed(a.Key, text(v)))
	}
	return slog.Attr{Key: a.Key, Value: v}
}

// text returns what a value prints as.
func text(v slog.Value) string {
	if b, ok := v.Any().([]byte); ok {
		return string(b)
	}
	if v.Kind() == slog.KindString {
		return v.String()
	}
	return fmt.Sprintf("%+v", v.Any())
}

func scrubNamed(name, s string) string {
	f := finder{names: ours.names, ours: true}
	if f.telling(name) && !shownValue(name, s) {
		return marker(len(s))
	}
	return Scrub(s)
}
