package address

import (
	"strings"
	"testing"
)

// TestUR1_mixedScripts: a host that mixes letters of scripts which nobody writes
// together is odd, also in its ASCII form; one in any one script is not.
func TestUR1_mixedScripts(t *testing.T) {
	for host, odd := range map[string]bool{
		"xn--mnchen-3ya.de": false, "xn--bcher-kva.example.com": false, "xn--80aswg.xn--p1ai": false, "xn--e1afmkfd.com": false, // пример
		"xn--80ak6aa92e.com": false, // аррӏе, all of it Cyrillic
		"xn--jxalpdlp.gr":    false, "xn--mgberp4a5d4ar.com": false, "xn--fiqs8s.com": false, "xn--wgv71a119e.jp": false, "xn--eckwd4c7cu47r2wf.jp": false, "xn--3e0b707e.com": false,
		"xn--google-5r6j.jp": false, "xn--n3h.com": false, "a.xn--mnchen-3ya.xn--p1ai": false, "plain.example.com": false, "xnxx--y.example.com": false,

		"xn--pple-43d.com": true, "www.xn--pple-43d.com": true, "xn--gogle-1nf.com": true, // аpple and gοogle: Cyrillic, Greek
		"xn--a.com": true, "xn--.com": true, "xn--99999999.com": true, "xn--a-ecp.com": true, "xn--0.com": true,
	} {
		u := Parse("https://" + host + "/")
		if got := u.Odd != ""; got != odd {
			name, ok := decodeLabel(strings.TrimPrefix(strings.Split(host, ".")[0], "xn--"))
			t.Errorf("%s (%s, %v): odd %q, want %v", host, name, ok, u.Odd, odd)
		}
		if u.Host != host {
			t.Errorf("%s: the host became %s", host, u.Host)
		}
	}
}

// TestDecodeLabel: the samples of RFC 3492, section 7.1, in lower case.
func TestDecodeLabel(t *testing.T) {
	for coded, want := range map[string]string{
		"egbpdaj6bu4bxfgehfvwxn":                        "ليهمابتكلموشعربي؟",
		"ihqwcrb4cv8a8dqg056pqjye":                      "他们为什么不说中文",
		"4dbcagdahymbxekheh6e0a7fei0b":                  "למההםפשוטלאמדבריםעברית",
		"b1abfaaepdrnnbgefbadotcwatmq2g4l":              "почемужеонинеговорятпорусски",
		"n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa":        "なぜみんな日本語を話してくれないのか",
		"porqunopuedensimplementehablarenespaol-fmd56a": "porquénopuedensimplementehablarenespañol",
		"3b-ww4c5e180e575a65lsy2b":                      "3年b組金八先生",
	} {
		if got, ok := decodeLabel(coded); got != want || !ok {
			t.Errorf("%s: %s, want %s", coded, got, want)
		}
	}
}
