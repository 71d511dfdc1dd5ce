package policy

import (
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
)

// Code names a kind of mistake in a policy or a file of tests, for programs; people read the
// text.
type Code string

// The kinds of mistakes.
const (
	CodeSyntax       Code = "syntax"        // the text is not YAML
	CodeTooLarge     Code = "too-large"     // more text than a policy has
	CodeNotText      Code = "not-text"      // not UTF-8, or a control character
	CodeEmpty        Code = "empty"         // no document
	CodeDocuments    Code = "documents"     // more than one document
	CodeAnchor       Code = "anchor"        // an anchor or an alias
	CodeTag          Code = "tag"           // an explicit type
	CodeType         Code = "type"          // a value of the wrong type
	CodeUnknownKey   Code = "unknown-key"   //
	CodeDuplicateKey Code = "duplicate-key" //
	CodeNotYet       Code = "not-yet"       // known, and comes later
	CodeVersion      Code = "version"       // missing, or one that we do not read
	CodeWord         Code = "word"          // none of the words that may stand here
	CodeNumber       Code = "number"        // not a plain whole number, or out of range
	CodeDuration     Code = "duration"      //
	CodeModeEnd      Code = "mode-end"      // approve_all, which needs an end
	CodeOSSandbox    Code = "os-sandbox"    // confinement that cannot be given
	CodeRuleEffect   Code = "rule-effect"   // a rule without exactly one effect
	CodeMisplaced    Code = "misplaced"     // a key that means nothing in this rule
	CodePattern      Code = "pattern"       // no pattern at all
	CodeTool         Code = "tool"          // a deny on a name that nothing knows
	CodeMCP          Code = "mcp"           // not mcp__SERVER__TOOL
	CodeArgument     Code = "argument"      // the tool has no argument to match on
	CodeMixed        Code = "mixed"         // tools whose arguments differ in type
	CodeShellWide    Code = "shell-wide"    // an allow on every line of a shell that nobody reads
	CodeShellPrefix  Code = "shell-prefix"  // an allow on all lines that begin alike, of a shell that nobody reads
	CodeShellDynamic Code = "shell-dynamic" // a pattern on commands with a part that may mean anything
	CodePath         Code = "path"          // no path pattern
	CodeURL          Code = "url"           // no URL pattern
	CodeHome         Code = "home"          // ~/ where nobody is at home
	CodeTier         Code = "tier"          // what a file of this tier may not say
	CodeTrust        Code = "trust"         // an allow on the word of a server that is not trusted
	CodeRootName     Code = "root-name"     // no such path in sandbox.paths
	CodeWhen         Code = "when"          // a condition that does not compile
	CodeNotice       Code = "notice"        // a notice that is not whole, or goes where none may
	CodeCovers       Code = "covers"        // an example that the rule does not match
	CodeCase         Code = "case"          // a case without a call or without what is expected, or no case
	CodeCall         Code = "call"          // no call
)

// Error is a mistake in a policy or a file of tests. It is a [sayso.ErrInvalid].
type Error struct {
	File   string
	Line   int // from 1
	Column int // from 1
	Code   Code
	What   string // what is wrong
	Write  string // what to write; may be empty
}

// Error is one line: the place, what is wrong, what to write.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
	if e.Write != "" {
		text += "; " + e.Write
	}
	return text
}

// Unwrap makes errors.Is(err, sayso.ErrInvalid) hold.
func (e *Error) Unwrap() error { return sayso.ErrInvalid }

// Errors are the mistakes of a file, in the order of their lines.
type Errors []*Error

// Error is a line for each mistake.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes one by one.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// Warning is something in a file that is no mistake and probably not meant.
type Warning struct {
	File   string
	Line   int
	Column int
	What   string
}

// String is one line, like that of an [Error].
func (w Warning) String() string {
	return fmt.Sprintf("%s:%d:%d: warning: %s", w.File, w.Line, w.Column, w.What)
}
