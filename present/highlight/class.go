package highlight

import (
	"github.com/alecthomas/chroma/v2"

	"github.com/sayso-dev/sayso"
)

// exact are the types whose class is not that of their sort.
var exact = map[chroma.TokenType]sayso.Class{
	chroma.KeywordType:       sayso.ClassType,
	chroma.NameAttribute:     sayso.ClassAttribute,
	chroma.NameProperty:      sayso.ClassAttribute,
	chroma.NameDecorator:     sayso.ClassAttribute,
	chroma.NameClass:         sayso.ClassType,
	chroma.NameException:     sayso.ClassType,
	chroma.NameFunction:      sayso.ClassFunction,
	chroma.NameTag:           sayso.ClassTag,
	chroma.NameKeyword:       sayso.ClassKeyword,
	chroma.NameConstant:      sayso.ClassNumber,
	chroma.OperatorWord:      sayso.ClassKeyword,
	chroma.GenericDeleted:    sayso.ClassRemoved,
	chroma.GenericInserted:   sayso.ClassAdded,
	chroma.GenericHeading:    sayso.ClassHeading,
	chroma.GenericSubheading: sayso.ClassPlace,
}

// sorts are the classes of whole sorts of types.
var sorts = map[chroma.TokenType]sayso.Class{
	chroma.NameBuiltin:   sayso.ClassName,
	chroma.NameVariable:  sayso.ClassVariable,
	chroma.NameFunction:  sayso.ClassFunction,
	chroma.LiteralString: sayso.ClassString,
	chroma.LiteralNumber: sayso.ClassNumber,
}

// kinds are the classes of the largest sorts.
var kinds = map[chroma.TokenType]sayso.Class{
	chroma.Keyword:  sayso.ClassKeyword,
	chroma.Literal:  sayso.ClassString,
	chroma.Operator: sayso.ClassOperator,
	chroma.Comment:  sayso.ClassComment,
}

// classOf is the class of a type of token. Most have none.
func classOf(t chroma.TokenType) sayso.Class {
	if c, ok := exact[t]; ok {
		return c
	}
	if c, ok := sorts[t.SubCategory()]; ok {
		return c
	}
	return kinds[t.Category()]
}
