package condition

import (
	"regexp/syntax"
	"slices"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
)

// maxTexts bounds the texts of one regular expression.
const maxTexts = 256

// Texts are what the expression compares with: its strings, and texts that its
// regular expressions find, one or more for each way they may be found. An
// argument that is not known may be any of them.
func (c *Condition) Texts() []string { return c.texts }

func texts(ast *cel.Ast) (out []string) {
	expressions := make(map[int64]bool)
	celast.PreOrderVisit(ast.NativeRep().Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		switch e.Kind() {
		case celast.CallKind:
			if call := e.AsCall(); call.FunctionName() == "matches" && len(call.Args()) > 0 {
				expressions[call.Args()[len(call.Args())-1].ID()] = true
			}
		case celast.LiteralKind:
			text, ok := e.AsLiteral().Value().(string)
			if !ok {
				return
			}
			if !expressions[e.ID()] {
				out = append(out, text)
			} else if re, err := syntax.Parse(text, syntax.Perl); err == nil {
				out = append(out, found(re)...)
			}
		}
	}))
	slices.Sort(out)
	return slices.Compact(out)
}

// found are texts that an expression finds.
func found(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpNoMatch:
		return nil
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCharClass:
		return ofClass(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []string{"a"}
	case syntax.OpCapture, syntax.OpPlus:
		return found(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		return []string{""}
	case syntax.OpRepeat:
		return product(slices.Repeat([]*syntax.Regexp{re.Sub[0]}, re.Min))
	case syntax.OpConcat:
		return product(re.Sub)
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			out = append(out, found(sub)...)
		}
		return out[:min(len(out), maxTexts)]
	}
	return []string{""} // the places between characters
}

// ofClass are the characters of a class, or the first of each range if there
// are many.
func ofClass(ranges []rune) (out []string) {
	for i := 0; i+1 < len(ranges); i += 2 {
		last := min(ranges[i+1], ranges[i]+2)
		for r := ranges[i]; r <= last; r++ {
			out = append(out, string(r))
		}
	}
	return out[:min(len(out), maxTexts)]
}

// product are the texts of each expression behind those of the one before.
func product(subs []*syntax.Regexp) []string {
	out := []string{""}
	for _, sub := range subs {
		var longer []string
		for _, tail := range found(sub) {
			for _, head := range out {
				if len(longer) < maxTexts {
					longer = append(longer, head+tail)
				}
			}
		}
		out = longer
	}
	return out
}

// placed reports whether an expression names a field that is worked out from where
// words of commands lead.
func placed(ast *cel.Ast) (found bool) {
	celast.PreOrderVisit(ast.NativeRep().Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		if e.Kind() == celast.SelectKind {
			name := e.AsSelect().FieldName()
			found = found || name == "secrets" || name == "outside"
		}
	}))
	return found
}
