package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Arithmetic evaluates the value of a name as an expression of its own, and a
// subscript in it is expanded: in `ls 'a[$(x)]'; [[ _ -eq 0 ]]` bash runs x,
// since the last word of the command before is the value of _. So a name is
// only understood if the line itself sets it, and to nothing but numbers.

// second is what may be evaluated a second time when the line runs.
type second struct {
	names   []evaluation
	numbers map[string]bool // names that the line sets to numbers
	others  map[string]bool // names that it sets to anything else
	nobody  bool            // it sets a name that is known only when it runs
	runs    bool            // values are evaluated, so texts in the line may run
	texts   []word          // quoted texts in which a substitution stands
}

// evaluation is one place where arithmetic evaluates the value of a name.
type evaluation struct {
	name string
	at   Span
}

// named records the names in an arithmetic expression.
func (in *inspector) named(expression string, at Span) {
	for i := 0; i < len(expression); {
		from := i
		for i < len(expression) && arithmeticByte(expression[i]) {
			i++
		}
		switch {
		case i == from:
			i++
		case expression[from] < '0' || expression[from] > '9': // and not a number, such as 16#ff
			in.second.names = append(in.second.names, evaluation{expression[from:i], at})
		}
	}
}

// arithmeticByte reports whether a byte may be one of a name or of a number.
func arithmeticByte(b byte) bool {
	return letter(b) || b >= '0' && b <= '9' || b == '_' || b == '#' || b >= 0x80
}

// expanded reports what is only known when an expression runs.
func (r *reading) expanded(w *syntax.Word) {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			r.named(p.Value, r.span(w))
			continue
		case *syntax.ParamExp:
			if !p.Dollar.IsValid() && p.Param != nil {
				r.named(p.Param.Value, r.span(w))
				continue
			}
		}
		r.second.runs = true
		r.problem(r.span(w), Unknown, "arithmetic with what is known only when it runs")
		return
	}
}

// numeric are the variables of bash whose values are always arithmetic.
var numeric = set("RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "LINENO")

// assignment records that the line sets a variable to anything.
func (in *inspector) assignment(a Assignment) {
	in.line.Assignments = append(in.line.Assignments, a)
	if numeric[a.Name] {
		in.named(a.Name, a.Span)
	}
	if in.second.others == nil {
		in.second.others = map[string]bool{}
	}
	in.second.others[a.Name] = true
}

// counted records that the line sets a variable to a number.
func (in *inspector) counted(a Assignment) {
	in.line.Assignments = append(in.line.Assignments, a)
	if in.second.numbers == nil {
		in.second.numbers = map[string]bool{}
	}
	in.second.numbers[a.Name] = true
}

// counts reports whether the value of a name can be nothing but a number.
func (s *second) counts(name string) bool {
	return s.numbers[name] && !s.others[name] && !s.nobody && ordinaryName(name)
}

// kept looks at a word that is no command's for texts that may run.
func (r *reading) kept(w *syntax.Word) {
	if w == nil {
		return
	}
	if source := r.source(w); strings.ContainsAny(source, "'\"\\") && strings.ContainsAny(source, "$`") {
		r.value(w)
	}
}

// keeps remembers a text that runs if something evaluates it. What is not
// quoted in it is followed anyway.
func (in *inspector) keeps(w word) {
	if strings.Contains(w.Text, "$(") || strings.Contains(w.Text, "$\\") || strings.Contains(w.Text, "`") {
		in.second.texts = append(in.second.texts, w)
	}
}

// again reports the names whose values are evaluated. Any text of the line may
// be such a value, and what stands in one is decided as well.
func (in *inspector) again() {
	s := &in.second
	type place struct {
		text string
		at   Span
	}
	seen := map[place]bool{}
	for names, texts := 0, 0; ; {
		for ; names < len(s.names); names++ {
			if n := s.names[names]; !s.counts(n.name) {
				s.runs = true
				in.problem(n.at, Unknown, "arithmetic with a variable, whose value is evaluated again")
			}
		}
		if !s.runs || texts == len(s.texts) {
			return
		}
		w := s.texts[texts]
		texts++
		if at := (place{w.Text, w.Span}); !seen[at] {
			seen[at] = true
			r := reading{inspector: in, origin: w.origin()}
			r.document(w.Text, w.origin(), scope{by: -1}, unknownDirs)
		}
	}
}
