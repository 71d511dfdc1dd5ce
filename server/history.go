package server

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/wire"
)

// A search looks through so many requests, for so long, and then says where it
// may be taken up again.
const (
	searchPage  = 200
	maxSearched = 10 * searchPage
	searchTime  = 300 * time.Millisecond
)

// history lists requests in every state. What the log has no index for is
// sought in the requests themselves, the newest first.
func (s *Server) history(ctx context.Context, c *caller, in *wire.History) (any, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if !in.Seeks() {
		return s.requests(ctx, c, &in.Query)
	}
	q, err := in.RowQuery()
	if err != nil {
		return nil, err
	}
	release, err := s.operations.acquire(ctx, c.actor.Principal)
	if err != nil {
		return nil, err
	}
	defer release()
	sought := search{in: in, words: strings.Fields(strings.ToLower(in.Text))}
	if in.Like != "" {
		if sought.like, err = similarityTo(ctx, c.inbox, in.Like); err != nil {
			return nil, err
		}
	}
	head, err := c.inbox.Head(ctx)
	if err != nil {
		return nil, err
	}
	out := wire.Requests{Head: head.Seq}
	out.Requests, out.Next, err = sought.run(ctx, c.inbox, q)
	return &out, err
}

// search is what requests are looked at for.
type search struct {
	in    *wire.History
	words []string
	like  *similarity
}

// run returns what it found, and where to go on; zero at the end of the log.
func (s *search) run(ctx context.Context, inbox sayso.Inbox, q sayso.RowQuery) (found []sayso.Request, next sayso.Seq, err error) {
	most := q.Limit
	if most <= 0 {
		most = 100
	}
	found = []sayso.Request{}
	q.Limit = searchPage
	ends := time.Now().Add(searchTime)
	for looked := 0; looked < maxSearched && (looked == 0 || time.Now().Before(ends)); looked += searchPage {
		list, err := inbox.Requests(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		for i := range list {
			q.Before = list[i].Life.First
			if !s.matches(&list[i]) {
				continue
			}
			list[i].Decision = list[i].Decision.Public()
			if found = append(found, list[i]); len(found) == most {
				return found, q.Before, nil
			}
		}
		if len(list) < searchPage || q.Before == 0 {
			return found, 0, nil
		}
	}
	return found, q.Before, nil
}

func (s *search) matches(r *sayso.Request) bool {
	d := r.Decision
	switch {
	case s.in.Cause != "" && r.Cause != s.in.Cause,
		s.in.Source != "" && (d == nil || d.Source != s.in.Source),
		s.in.By != "" && (d == nil || !slices.ContainsFunc(d.By, func(a sayso.Actor) bool { return strings.EqualFold(a.Principal, s.in.By) })),
		s.in.Longer > 0 && (d == nil || d.At.Sub(r.CreatedAt) < s.in.Longer):
		return false
	}
	return (s.like == nil || s.like.matches(r)) && s.hasWords(r)
}

// hasWords reports whether all words stand somewhere in what is shown of a request.
func (s *search) hasWords(r *sayso.Request) bool {
	if len(s.words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join(searchableText(r), "\n"))
	return !slices.ContainsFunc(s.words, func(word string) bool { return !strings.Contains(text, word) })
}

func searchableText(r *sayso.Request) []string {
	text := []string{
		string(r.ID), r.SessionID, r.RunID, r.Host, r.Caller, r.Tool, r.HostTool, r.Server, string(r.Kind), string(r.Risk),
		r.Cwd, r.Description, string(r.Cause), r.Rule, string(r.State), r.Outcome,
	}
	for _, d := range r.Danger {
		text = append(text, string(d))
	}
	for _, said := range r.Said {
		text = append(text, said)
	}
	if d := r.Decision; d != nil {
		text = append(text, d.Who(), d.Note, d.Rule, d.Reason)
	}
	return appendText(text, r.Preview)
}

// appendText adds all names and values of JSON, numbers as they are written.
func appendText(text []string, src []byte) []string {
	for d := jsontext.NewDecoder(bytes.NewReader(src)); ; {
		t, err := d.ReadToken()
		if err != nil {
			return text
		}
		if t.Kind() != 'n' && !strings.ContainsRune("{}[]", rune(t.Kind())) {
			text = append(text, t.String())
		}
	}
}

// similarity is what calls like another have in common with it: the tool, and for
// commands the program or what the tool itself takes for the same.
type similarity struct {
	id           sayso.ID
	tool, server string
	fingerprint  sayso.Digest
	program      string
}

func similarityTo(ctx context.Context, inbox sayso.Inbox, id string) (*similarity, error) {
	whole, err := parseFullID(id)
	if err != nil {
		return nil, err
	}
	r, err := inbox.Request(ctx, string(whole))
	if err != nil {
		return nil, err
	}
	return &similarity{r.ID, r.Tool, r.Server, r.Fingerprint, programOf(&r)}, nil
}

func (l *similarity) matches(r *sayso.Request) bool {
	if r.ID == l.id || r.Tool != l.tool || r.Server != l.server {
		return false
	}
	return r.Fingerprint == l.fingerprint && !r.Fingerprint.IsZero() || programOf(r) == l.program
}

// programOf is the first word of a command, without its path; empty for what is
// no command.
func programOf(r *sayso.Request) string {
	var args struct {
		Command string `json:"command"`
	}
	if r.Kind != sayso.KindShell || jcs.UnmarshalLenient(r.Preview, &args) != nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(args.Command), " ")
	return path.Base(first)
}
