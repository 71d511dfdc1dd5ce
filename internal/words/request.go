package words

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

// View is a request and what may be shown of it, as a terminal shows them.
func View(r sayso.Request, content sayso.RequestedFull) present.View {
	v := present.View{
		Title: r.ShortID + " " + standingOf(r), Tool: r.Tool, Server: r.Server, From: From(r), Host: r.Host, Session: r.SessionID,
		Cwd: r.Cwd, Risk: present.Risk(r.Risk, nil), Danger: present.Dangers(r.Danger), Why: because(r), Description: r.Description, Titled: r.Titled, Said: r.Said,
		Preview: content.Args, Presentation: content.Presentation, Warnings: r.Warnings, Redactions: r.Redactions,
	}
	if r.Risk == sayso.RiskDestructive && len(r.Danger) > 0 {
		v.Risk = "" // the danger says it
	}
	if r.HostTool != "" && r.HostTool != r.Tool {
		v.Tool += " (" + r.HostTool + ")"
	}
	if len(v.Preview) == 0 {
		v.Preview = r.Preview
	} else {
		v.Warnings = OfWhole(r.Warnings)
	}
	if v.Host == v.From {
		v.Host = ""
	}
	v.ShownBy = v.From
	if sameData(v.Preview, v.Presentation) {
		v.Presentation = nil
	}
	v.Drawn = drawnArgs(v.Preview, v.Presentation)
	return v
}

// OfWhole are the warnings about a call of which all arguments are drawn:
// nothing of them is left out.
func OfWhole(warnings []sayso.Warning) []sayso.Warning {
	return slices.DeleteFunc(slices.Clone(warnings), func(w sayso.Warning) bool {
		return w.Kind == sayso.WarnTruncated && (w.Path == "" || w.Path[0] == '/')
	})
}

// standingOf is where a request stands, for its title.
func standingOf(r sayso.Request) string {
	switch {
	case !r.State.Open() && Edited(r):
		return "was " + string(r.State) + ", with changes"
	case !r.State.Open():
		return "was " + string(r.State)
	}
	text := "waits for an answer"
	if r.RemainingS != nil {
		text += ", " + Left(r) + " left"
	}
	if r.State == sayso.StateParked {
		text += "; its agent has stopped waiting"
	}
	return text
}

// Edited reports whether another call was allowed than was asked for.
func Edited(r sayso.Request) bool {
	return r.Decision != nil && r.Decision.Allowed() && !r.Decision.Digest.IsZero() && r.Decision.Digest != r.Digest
}

// From is who asks: as they call themselves, or the host that they work in.
func From(r sayso.Request) string {
	for _, name := range []string{r.Caller, r.Host, r.Life.Asker.Principal} {
		if name != "" {
			return name
		}
	}
	return ""
}

// because says why a request is asked, and where that stands.
func because(r sayso.Request) string {
	why, known := causes[r.Cause]
	if !known {
		why = string(r.Cause)
	}
	if r.Rule != "" && r.Cause != sayso.CauseDefault {
		why += " " + strconv.Quote(r.Rule)
	}
	if r.File != "" {
		why += fmt.Sprintf(", %s:%d", r.File, r.Line)
	}
	return why
}

// causes are the causes of an ask in words.
var causes = map[sayso.Cause]string{
	sayso.CauseRule: "rule", sayso.CauseDefault: "no rule speaks about it",
	sayso.CauseToolRequired: "this tool must be asked about", sayso.CauseToolOptional: "this tool would like to be asked about",
	sayso.CauseNotUnderstood: "it could not be read to its end", sayso.CauseSession: "set for this session", sayso.CauseBuiltin: "built-in rule",
}
