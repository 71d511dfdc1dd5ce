package present

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Call presents a call of which nothing is known but itself, by what its tool
// takes: a command with what was understood of it, a patch, an address in its parts. For
// all others there is none: their arguments are as good as a presentation.
func Call(c sayso.Call) (sayso.Presentation, bool) {
	if c.Server != "" {
		return sayso.Presentation{}, false
	}
	tool := c.Known()
	var args map[string]any
	if err := jcs.UnmarshalLenient(c.Args, &args); err != nil {
		return sayso.Presentation{}, false
	}
	text, ok := args[tool.Primary].(string)
	if !ok {
		return sayso.Presentation{}, false
	}
	if tool.Patch {
		return Patch(tool.Primary, text, sayso.Facts{}, nil), true
	}
	switch tool.Operand {
	case sayso.OperandCommand:
		return Command(text, c.Cwd, Understood(text)...), true
	case sayso.OperandURL:
		return Address(text), true
	}
	return sayso.Presentation{}, false
}

// Address presents the parts of an address, as they were understood.
func Address(url string) sayso.Presentation {
	u := address.Parse(url)
	text, err := jcs.Marshal(parts{u.Scheme, u.Host, u.Port, u.Path, u.Query})
	if err != nil {
		return PlainText(url)
	}
	p := Structured(text)
	if u.Odd != "" {
		p = Noted(p, "programs may disagree about this address: "+u.Odd)
	}
	if u.Local {
		p = Noted(p, "it is, or may be, on this machine or network")
	}
	return p
}

// parts are those of an address.
type parts struct {
	Scheme string `json:"scheme"`
	Host   string `json:"host"`
	Port   int    `json:"port"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
}
