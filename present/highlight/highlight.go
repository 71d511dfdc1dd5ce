// Package highlight takes code apart into coloured tokens.
//
// Tokens are pairs of a class and a text, never markup: a page makes elements
// of them, a terminal colours. Put together they are exactly the text that was
// given, byte for byte, whatever the lexer made of it; so what is shown is what
// was made safe to be shown, see package present. Highlight what is safe
// already: a character that is spelled out is then part of the code that the
// lexer sees.
//
// Lexers are slow on large and odd texts. What is longer than [MaxBytes], and
// what a lexer did not get to within [MaxTime], is one plain token. The package
// costs every program that links it some milliseconds at its start: the hook
// must not.
package highlight

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"github.com/sayso-dev/sayso"
)

const (
	// MaxBytes is the longest text that is taken apart. Highlight what is on the
	// screen, not the whole of a large file.
	MaxBytes = 64 << 10
	// MaxTime is how long a caller waits for a lexer.
	MaxTime = 300 * time.Millisecond
	// maxBusy is how many lexers may be at work at once. One that does not come
	// to its end costs a processor, not the program.
	maxBusy = 4
)

// Code takes code of a language apart. The language is a name that package
// present gives, or any that chroma knows; of an unknown one the text is one
// plain token. No text has no tokens.
func Code(text, language string) []sayso.Token {
	if text == "" {
		return nil
	}
	lexer := lexerFor(language)
	if lexer == nil || len(text) > MaxBytes {
		return []sayso.Token{{Text: text}}
	}
	return assemble(text, run(lexer, text))
}

// Known reports whether a language is one that [Code] takes apart.
func Known(language string) bool { return lexerFor(language) != nil }

// names are the languages that chroma knows, by all their names. Its own look-up
// goes on to try an unknown one as the ending of a file, at some cost.
var names = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for _, name := range lexers.Names(true) {
		known[strings.ToLower(name)] = true
	}
	return known
})

// lexerFor is the lexer of a language, nil if there is none.
func lexerFor(language string) chroma.Lexer {
	if language = strings.ToLower(language); !names()[language] {
		return nil
	}
	return lexers.Get(language)
}

var busy atomic.Int32

// run runs a lexer and returns what it found in time. What it found may be
// anything.
func run(lexer chroma.Lexer, text string) []chroma.Token {
	if busy.Add(1) > maxBusy {
		busy.Add(-1)
		return nil
	}
	var stop atomic.Bool
	found := make(chan []chroma.Token, 1)
	go func() {
		defer busy.Add(-1)
		found <- lex(lexer, text, &stop)
	}()
	late := time.NewTimer(MaxTime)
	defer late.Stop()
	select {
	case tokens := <-found:
		return tokens
	case <-late.C:
	}
	stop.Store(true)
	late.Reset(MaxTime / 4) // for a lexer that is between two tokens to say how far it came
	select {
	case tokens := <-found:
		return tokens
	case <-late.C:
		return nil
	}
}

// lex reads the tokens of a text until it is told to stop. A lexer that panics
// has found what it found.
func lex(lexer chroma.Lexer, text string, stop *atomic.Bool) (tokens []chroma.Token) {
	defer func() { _ = recover() }() // lexers are tables of regular expressions, written by many
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	for empty := 0; empty < 1000 && !stop.Load(); {
		t := next()
		if t == chroma.EOF {
			return tokens
		}
		if t.Value == "" {
			empty++ // a lexer that goes nowhere
			continue
		}
		empty = 0
		tokens = append(tokens, t)
	}
	return tokens
}

// assemble makes tokens of a text. It takes from the lexer only where its tokens
// end: the text is cut there. Where they are not the text, the rest is plain.
func assemble(text string, found []chroma.Token) []sayso.Token {
	c := cutter{text: text}
	for _, t := range found {
		if !strings.HasPrefix(text[c.at:], t.Value) {
			break
		}
		c.add(classOf(t.Type), len(t.Value))
	}
	return c.rest()
}

// cutter cuts a text into tokens, one after the other. Neighbours of one class
// are one token.
type cutter struct {
	text   string
	from   int // where the token at hand begins
	at     int // where it ends so far
	class  sayso.Class
	tokens []sayso.Token
}

func (c *cutter) add(class sayso.Class, length int) {
	if class != c.class {
		c.flush()
		c.class = class
	}
	c.at += length
}

func (c *cutter) flush() {
	if c.at > c.from {
		c.tokens = append(c.tokens, sayso.Token{Class: c.class, Text: c.text[c.from:c.at]})
		c.from = c.at
	}
}

// rest is all tokens; what was not cut is plain.
func (c *cutter) rest() []sayso.Token {
	c.add("", len(c.text)-c.at)
	c.flush()
	return c.tokens
}
