package policy

import (
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso/inspect/address"
)

// Notice is a place elsewhere that is told what waits: a webhook or a chat.
type Notice struct {
	Name    string   // what lists and metrics call it
	Webhook Held     // where a webhook is; zero for a chat
	Secret  Held     // what a webhook's notices are signed with
	Chat    Held     // which chat it is; zero for a webhook
	On      []string // of [NoticeEvents]
	Detail  string   // of [NoticeDetails]
}

// Held is a text, or where it is kept: a policy may be read by others, and a
// secret must not stand in it.
type Held struct {
	Text string
	File string // from / or ~/
	Env  string
}

// IsZero reports whether nothing is held.
func (h Held) IsZero() bool { return h == Held{} }

var (
	noticeEvents  = []string{"opened", "decided", "expired", "withdrawn", "mode", "dead"}
	noticeDetails = []string{"none", "title", "preview"}
)

// NoticeEvents lists what a notice may be about.
func NoticeEvents() []string { return slices.Clone(noticeEvents) }

// NoticeDetails lists how much a notice may tell, the least first.
func NoticeDetails() []string { return slices.Clone(noticeDetails) }

// Notices returns who elsewhere is told what waits. Of two with one name, that
// of the organisation counts.
func (p *Policy) Notices() []Notice { return slices.Clone(p.notices) }

// addNotices takes over who is told.
func (p *Policy) addNotices(f *File) {
	for _, n := range f.notices {
		same := func(old Notice) bool { return old.Name == n.Name }
		if slices.ContainsFunc(p.notices, same) {
			p.warnings = append(p.warnings, Warning{f.Name, f.noticed.line, f.noticed.column, "another file has a notice called " + n.Name + " too; that of the organisation counts"})
			p.notices = slices.DeleteFunc(p.notices, same)
		}
		p.notices = append(p.notices, n)
	}
}

func (f *File) readNotices(r *reader, key, n *yaml.Node) {
	f.noticed = at(key)
	names := map[string]bool{}
	for _, item := range r.items(n, "notices") {
		notice, ok := r.notice(item)
		if !ok {
			continue
		}
		if names[notice.Name] {
			r.fail(item, CodeNotice, "give it another name", "two notices are called %s", notice.Name)
		}
		names[notice.Name] = true
		f.notices = append(f.notices, notice)
	}
}

// notice reads one of them. ok is false after a mistake.
func (r *reader) notice(n *yaml.Node) (notice Notice, ok bool) {
	before := len(r.errs)
	notice = Notice{On: []string{"opened"}, Detail: "title"}
	if !r.mapping(n, "a notice", map[string]field{
		"name":    func(_, n *yaml.Node) { notice.Name = r.noticeName(n) },
		"webhook": func(_, n *yaml.Node) { notice.Webhook = r.webhook(n) },
		"secret":  func(_, n *yaml.Node) { notice.Secret = r.held(n, "secret") },
		"chat":    func(_, n *yaml.Node) { notice.Chat = r.held(n, "chat") },
		"on":      func(_, n *yaml.Node) { notice.On = r.noticeOn(n) },
		"detail":  func(_, n *yaml.Node) { notice.Detail, _ = r.word(n, "detail", noticeDetails...) },
	}, nil) || len(r.errs) > before {
		return notice, false
	}
	switch {
	case notice.Name == "":
		r.fail(n, CodeNotice, "write for example name: team", "a notice has a name, and this has none")
	case notice.Webhook.IsZero() == notice.Chat.IsZero():
		r.fail(n, CodeNotice, "write webhook: https://… or chat: {file: …}", "a notice goes to one webhook or to one chat")
	case notice.Secret.IsZero() == notice.Chat.IsZero():
		r.fail(n, CodeNotice, "write secret: {file: …} beside webhook, and not beside chat", "a webhook has a secret that its notices are signed with, and a chat has none")
	default:
		return notice, true
	}
	return notice, false
}

func (r *reader) noticeName(n *yaml.Node) string {
	name, ok := r.text(n, "name")
	if ok && (len(name) > 32 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || name[0] == '-') {
		r.fail(n, CodeNotice, "write small letters, digits and -, up to 32", "a notice cannot be called %s", quoted(name))
	}
	return name
}

func (r *reader) noticeOn(n *yaml.Node) []string {
	var on []string
	for _, item := range list(n) {
		if word, ok := r.word(item, "on", noticeEvents...); ok && !slices.Contains(on, word) {
			on = append(on, word)
		}
	}
	if len(on) == 0 && n.Kind == yaml.SequenceNode {
		r.fail(n, CodeNotice, "write for example on: [opened, expired]", "on lists nothing, so nothing would be sent")
	}
	return on
}

// webhook reads where a webhook is: its address, or where that is kept.
func (r *reader) webhook(n *yaml.Node) Held {
	if n.Kind == yaml.MappingNode {
		return r.held(n, "webhook")
	}
	text, ok := r.text(n, "webhook")
	if !ok {
		return Held{}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && !plainAddress(u):
		r.fail(n, CodeNotice, "write https://…; http:// is for this machine alone", "this is no address that a notice may go to")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		r.fail(n, CodeNotice, "put the address into a file that only you may read, and write webhook: {file: ~/…}", "the address of this webhook may hold a secret, which others can read in a policy")
	}
	return Held{Text: text}
}

// plainAddress reports whether an address may be without encryption: it leads
// to this machine.
func plainAddress(u *url.URL) bool {
	_, loopback := address.Loopback(u.Host)
	return u.Scheme == "http" && loopback
}

// held reads where a secret is kept.
func (r *reader) held(n *yaml.Node, what string) Held {
	if n.Kind == yaml.ScalarNode {
		r.fail(n, CodeNotice, "write "+what+": {file: ~/.config/sayso/NAME} or "+what+": {env: NAME}", "%s would be a secret that stands in the policy, where others could read it", what)
		return Held{}
	}
	var h Held
	before := len(r.errs)
	r.mapping(n, "a secret", map[string]field{
		"file": func(_, n *yaml.Node) {
			h.File, _ = r.text(n, "file")
			if h.File != "" && !strings.HasPrefix(h.File, "/") && !strings.HasPrefix(h.File, "~/") {
				r.fail(n, CodePath, "write it from the root or from home, as in ~/.config/sayso/NAME", "%s does not say where the file is", quoted(h.File))
			}
		},
		"env": func(_, n *yaml.Node) { h.Env, _ = r.text(n, "env") },
	}, nil)
	if (h.File == "") == (h.Env == "") && len(r.errs) == before {
		r.fail(n, CodeNotice, "write file or env", "a secret is kept in one place, a file or a variable of the environment")
	}
	return h
}
