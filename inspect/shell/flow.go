package shell

import (
	stdpath "path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dirs are the folders that a command may run in; never changed in place.
type dirs []Dir

var (
	start       = dirs{{}}
	unknownDirs = dirs{{Unknown: true}}
)

// maxDirs is how many folders are told apart; with more, nobody knows.
const maxDirs = 8

// or is the folders of one way and of another.
func (d dirs) or(other dirs) dirs {
	out := d
	for _, o := range other {
		if !slices.ContainsFunc(out, o.equal) {
			out = append(slices.Clip(out), o)
		}
	}
	if len(out) > maxDirs {
		return unknownDirs
	}
	return out
}

func (d Dir) equal(o Dir) bool { return d.Unknown == o.Unknown && slices.Equal(d.Steps, o.Steps) }

// into is where cd with an operand leads from the folders.
func (d dirs) into(operand string) dirs {
	var out dirs
	for _, from := range d {
		out = out.or(from.into(operand))
	}
	return out
}

// into is where cd leads from one folder: where the kernel would go and, if
// the way back from a link is another one, where the name without it leads.
func (d Dir) into(operand string) dirs {
	if operand == "" {
		return dirs{d}
	}
	if operand[0] == '/' {
		d = Dir{}
	}
	if d.Unknown || len(d.Steps) > maxDirs {
		return unknownDirs
	}
	steps := append(slices.Clip(d.Steps), operand)
	out := dirs{{Steps: steps}}
	if clean, ok := withoutDotDot(steps); ok {
		out = out.or(dirs{{Steps: clean}})
	}
	return out
}

// withoutDotDot takes the names that dot-dot leads back over off the steps of
// cd, as the shell does before it asks the kernel; ok is false if there are
// none.
func withoutDotDot(steps []string) (clean []string, ok bool) {
	joined := strings.Join(steps, "/")
	if !strings.Contains(joined, "..") {
		return nil, false
	}
	path := stdpath.Clean(joined)
	if path == "." {
		return nil, true
	}
	return []string{path}, true
}

// same reports whether two lists are one.
func (d dirs) same(other dirs) bool {
	return len(d) == len(other) && (len(d) == 0 || &d[0] == &other[0])
}

// stmts follows a list of statements. Whether one of them failed is nobody's
// concern for the next.
func (r *reading) stmts(list []*syntax.Stmt, s scope, in dirs) dirs {
	ok, fail := r.sequence(list, s, in)
	return ok.or(fail)
}

// sequence is stmts, and tells the folders apart by whether the last statement
// succeeded.
func (r *reading) sequence(list []*syntax.Stmt, s scope, in dirs) (ok, fail dirs) {
	ok, fail = in, in
	for _, st := range list {
		if r.full {
			break
		}
		ok, fail = r.stmt(st, s, ok.or(fail))
	}
	return ok, fail
}

// stmt follows one statement, and returns the folders that the shell is in if
// it succeeded, and if it failed.
func (r *reading) stmt(st *syntax.Stmt, s scope, in dirs) (ok, fail dirs) {
	if r.depth++; r.depth > MaxDepth {
		r.depth--
		r.full = true
		r.problem(r.span(st), TooDeep, "commands stand too deep inside each other")
		return in, in
	}
	defer func() { r.depth-- }()
	if st.Background || st.Coprocess || st.Disown {
		r.command(st, s.in(InBackground), in)
		return in, in
	}
	ok, fail = r.command(st, s, in)
	if st.Negated {
		return fail, ok
	}
	return ok, fail
}

// command follows what a statement runs.
func (r *reading) command(st *syntax.Stmt, s scope, in dirs) (ok, fail dirs) {
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		return r.call(c, st.Redirs, s, in)
	case *syntax.DeclClause:
		return r.declare(c, st.Redirs, s, in)
	}
	s.input = r.redirects(st.Redirs, -1, s, in)
	switch c := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		return r.binary(c, s, in)
	case *syntax.Subshell:
		r.stmts(c.Stmts, s, in)
		return in, in
	case *syntax.Block:
		return r.sequence(c.Stmts, s, in)
	case *syntax.TimeClause:
		return r.time(c, s, in)
	case nil:
		return in, in
	}
	out := r.compound(st.Cmd, s, in)
	return out, out
}

// compound follows a command that has others in it.
func (r *reading) compound(c syntax.Command, s scope, in dirs) dirs {
	switch c := c.(type) {
	case *syntax.IfClause:
		return r.ifClause(c, s, in)
	case *syntax.WhileClause:
		return r.loop(s, in, func(s scope) dirs {
			return r.stmts(c.Do, s, r.stmts(c.Cond, s, in))
		})
	case *syntax.ForClause:
		return r.forClause(c, s, in)
	case *syntax.CaseClause:
		return r.caseClause(c, s, in)
	case *syntax.FuncDecl:
		r.function(c, s)
	case *syntax.ArithmCmd:
		r.line.Expressions = append(r.line.Expressions, r.span(c))
		r.arithm(c.X, s, in)
	case *syntax.TestClause:
		r.line.Expressions = append(r.line.Expressions, r.span(c))
		r.test(c.X, s, in)
	case *syntax.CoprocClause:
		r.coproc(c, s, in)
	default:
		r.problem(r.span(c), Unparsed, "a kind of command that is not known")
	}
	return in
}

func (r *reading) time(c *syntax.TimeClause, s scope, in dirs) (ok, fail dirs) {
	if c.Stmt == nil {
		return in, in
	}
	first := c.Stmt
	for b, is := first.Cmd.(*syntax.BinaryCmd); is; b, is = first.Cmd.(*syntax.BinaryCmd) {
		first = b.X
	}
	// The option that ends options is no command.
	if call, is := first.Cmd.(*syntax.CallExpr); is && len(call.Assigns) == 0 && len(call.Args) > 1 && call.Args[0].Lit() == "--" {
		call.Args = call.Args[1:]
	}
	return r.stmt(c.Stmt, s, in)
}

// link is one element of a chain of commands, with the operator before it.
type link struct {
	op   syntax.BinCmdOperator
	stmt *syntax.Stmt
}

// chain takes a && b || c apart, which the grammar nests to the left.
func chain(b *syntax.BinaryCmd) []link {
	pipe := isPipe(b.Op)
	var links []link
	for {
		links = append(links, link{b.Op, b.Y})
		x, ok := b.X.Cmd.(*syntax.BinaryCmd)
		if !ok || isPipe(x.Op) != pipe || b.X.Negated || len(b.X.Redirs) > 0 || b.X.Background {
			links = append(links, link{0, b.X})
			break
		}
		b = x
	}
	slices.Reverse(links)
	return links
}

func isPipe(op syntax.BinCmdOperator) bool { return op == syntax.Pipe || op == syntax.PipeAll }

func (r *reading) binary(b *syntax.BinaryCmd, s scope, in dirs) (ok, fail dirs) {
	links := chain(b)
	if isPipe(b.Op) {
		r.pipe(links, s, in)
		return in, in
	}
	ok, fail = r.stmt(links[0].stmt, s, in)
	for _, l := range links[1:] {
		if r.full {
			break
		}
		if l.op == syntax.AndStmt {
			then, failed := r.stmt(l.stmt, s.in(InBranch), ok)
			ok, fail = then, fail.or(failed)
			continue
		}
		then, failed := r.stmt(l.stmt, s.in(InBranch), fail)
		ok, fail = ok.or(then), failed
	}
	return ok, fail
}

// pipe follows a pipeline, each element of which runs in a shell of its own.
func (r *reading) pipe(links []link, s scope, in dirs) {
	for i, l := range links {
		if r.full {
			return
		}
		if i > 0 {
			s.input = r.said(links[i-1].stmt)
			s = s.in(InPipe)
		}
		r.stmt(l.stmt, s, in)
	}
}

func (r *reading) ifClause(c *syntax.IfClause, s scope, in dirs) dirs {
	out := dirs(nil)
	for ; c != nil; c = c.Else {
		then, otherwise := r.sequence(c.Cond, s, in)
		out = out.or(r.stmts(c.Then, s.in(InBranch), then))
		if len(c.Cond) == 0 { // else
			return out
		}
		in = otherwise
	}
	return out.or(in)
}

// loop follows a loop. If what is in it changes the folder, nobody knows in
// which one it runs the second time.
func (r *reading) loop(s scope, in dirs, body func(scope) dirs) dirs {
	commands, redirects := len(r.line.Commands), len(r.line.Redirects)
	out := body(s.in(InLoop))
	if out.same(in) {
		return in
	}
	for i := commands; i < len(r.line.Commands); i++ {
		r.line.Commands[i].Dirs = unknownDirs
	}
	for i := redirects; i < len(r.line.Redirects); i++ {
		r.line.Redirects[i].Dirs = unknownDirs
	}
	return unknownDirs
}

func (r *reading) forClause(c *syntax.ForClause, s scope, in dirs) dirs {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		r.counter(l.Name)
		r.loose(l.Items, s, in, "the words that a loop goes over")
	case *syntax.CStyleLoop:
		r.line.Expressions = append(r.line.Expressions, r.span(l))
		for _, x := range [...]syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			r.arithmIn(x, s, in, true)
		}
	}
	return r.loop(s, in, func(s scope) dirs { return r.stmts(c.Do, s, in) })
}

func (r *reading) caseClause(c *syntax.CaseClause, s scope, in dirs) dirs {
	r.loose([]*syntax.Word{c.Word}, s, in, "the word of a case")
	out := in
	for _, item := range c.Items {
		r.loose(item.Patterns, s, in, "the pattern of a case")
		out = out.or(r.stmts(item.Stmts, s.in(InBranch), out))
	}
	return out
}

// function follows the body of a function, which runs nobody knows where.
func (r *reading) function(c *syntax.FuncDecl, s scope) {
	name := ""
	if c.Name != nil {
		name = c.Name.Value
	}
	r.problem(r.span(c), Shadow, "a function, which runs in place of any program named "+name)
	if r.names == nil {
		r.names = map[string]bool{}
	}
	in := unknownDirs
	ok, fail := r.stmt(c.Body, scope{by: s.by, place: s.place | InFunction}, in)
	r.names[name] = r.names[name] || !ok.same(in) || !fail.same(in)
}

// coproc follows a coprocess. Its name is a variable, and what looks like an
// assignment in front of it is one. Only a compound command has a name: what the
// parser takes for that of a simple one, as before a redirection, is its program.
func (r *reading) coproc(c *syntax.CoprocClause, s scope, in dirs) {
	if first := leftmost(c.Stmt); first != nil {
		if c.Name != nil {
			r.programFirst(first, c.Name)
			c.Name = nil
		}
		r.assignsFirst(first.Cmd, s, in)
	}
	call, simple := c.Stmt.Cmd.(*syntax.CallExpr)
	var words []*syntax.Word
	if simple {
		words = call.Args
	}
	if c.Name != nil && (simple || c.Stmt.Cmd == nil) {
		words = append([]*syntax.Word{c.Name}, words...)
	}
	number := r.descriptor(words, c.Stmt.Redirs)
	if number {
		words = words[1:]
	}
	if (simple || c.Stmt.Cmd == nil) && (c.Name != nil || number) {
		whole := &syntax.CallExpr{Args: words}
		if simple {
			whole.Assigns = call.Assigns
		}
		st := *c.Stmt
		st.Cmd = whole
		r.stmt(&st, s.in(InBackground), in)
		return
	}
	if c.Name != nil {
		if len(c.Name.Parts) == 1 {
			if lit, ok := c.Name.Parts[0].(*syntax.Lit); ok {
				r.counter(lit)
			}
		}
		r.loose([]*syntax.Word{c.Name}, s, in, "the name of a coprocess")
	}
	r.assignsFirst(c.Stmt.Cmd, s, in)
	r.stmt(c.Stmt, s.in(InBackground), in)
}

// assignsFirst follows a coprocess whose first word is an assignment for bash.
func (r *reading) assignsFirst(c syntax.Command, s scope, in dirs) {
	call, simple := c.(*syntax.CallExpr)
	if simple && len(call.Args) > 1 && strings.Contains(r.source(call.Args[0]), "=") {
		r.problem(r.span(call), Unparsed, "an assignment in front of a coprocess")
		r.stmt(&syntax.Stmt{Cmd: &syntax.CallExpr{Args: call.Args[1:]}, Position: call.Pos()}, s.in(InBackground), in)
	}
}

// programFirst puts what the parser took for the name of a coprocess in front of
// the words of the simple command that it belongs to.
func (r *reading) programFirst(st *syntax.Stmt, name *syntax.Word) {
	call, _ := st.Cmd.(*syntax.CallExpr)
	if call == nil {
		call = &syntax.CallExpr{}
	}
	whole := &syntax.CallExpr{Assigns: call.Assigns, Args: append([]*syntax.Word{name}, call.Args...)}
	if r.descriptor(whole.Args, st.Redirs) {
		whole.Args = call.Args
	}
	st.Cmd = whole
}

// leftmost is the simple command that a pipeline begins with, nil if it is none
// or begins with another.
func leftmost(st *syntax.Stmt) *syntax.Stmt {
	b, pipeline := st.Cmd.(*syntax.BinaryCmd)
	if !pipeline || !isPipe(b.Op) {
		return nil
	}
	for ; pipeline && isPipe(b.Op); b, pipeline = st.Cmd.(*syntax.BinaryCmd) {
		st = b.X
	}
	if _, simple := st.Cmd.(*syntax.CallExpr); !simple && st.Cmd != nil {
		return nil
	}
	return st
}

// descriptor reports whether what the parser takes for the first word of a
// coprocess is the number of a descriptor, right in front of a redirection.
func (r *reading) descriptor(words []*syntax.Word, redirs []*syntax.Redirect) bool {
	return len(words) > 0 && len(redirs) > 0 && strings.Trim(r.source(words[0]), "0123456789") == "" &&
		words[0].End().Offset() == redirs[0].OpPos.Offset()
}

// source is the part of the text that a node was read from.
func (r *reading) source(n syntax.Node) string {
	from, to := r.offsets(n)
	return r.text[from:to]
}
