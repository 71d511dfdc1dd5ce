package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sayso-dev/sayso"
)

// plainArgs has a command and all below it say in our words what was typed
// wrong: cobra's own count arguments.
func plainArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			var hinted *hintError
			if err == nil || errors.As(err, &hinted) {
				return err
			}
			return wrongArgs(c, args)
		}
	}
	for _, child := range c.Commands() {
		plainArgs(child)
	}
}

func wrongArgs(c *cobra.Command, args []string) error {
	line := strings.TrimSuffix(c.UseLine(), " [flags]")
	switch {
	case len(args) == 0:
		return usage(fmt.Errorf("%s wants more than that", c.CommandPath()), line)
	case c.Args(c, nil) == nil:
		return usage(fmt.Errorf("%s does not take %q", c.CommandPath(), args[len(args)-1]), line)
	}
	return usage(fmt.Errorf("%s does not take %s", c.CommandPath(), count(len(args), "argument")), line)
}

// wanted refuses a command without a flag that it cannot do without.
func wanted(c *cobra.Command, name string) error {
	if f := c.Flags().Lookup(name); f.Changed && f.Value.String() != "" {
		return nil
	}
	return usage(fmt.Errorf("%s wants --%s", c.CommandPath(), name), c.CommandPath()+" --help")
}

// wrongValue says in our words that a flag was given what it does not take: Go's
// own name the function that could not read it.
func wrongValue(err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	takes := map[string]string{"int": "it takes a number", "bool": "it is true or false", "duration": errDuration.Error(), "since": errSince.Error()}[wrong.GetFlag().Value.Type()]
	if takes == "" {
		return err
	}
	return fmt.Errorf("--%s %q: %s", wrong.GetFlag().Name, wrong.GetValue(), takes)
}

// lasting is a flag for a duration; besides what Go reads it takes days.
type lasting struct{ d *time.Duration }

func durationFlag(f *pflag.FlagSet, d *time.Duration, name string, value time.Duration, about string) {
	*d = value
	f.Var(lasting{d}, name, about)
}

// String is empty for no duration, so that help names no default then.
func (l lasting) String() string {
	if l.d == nil || *l.d == 0 {
		return ""
	}
	return typedAs(*l.d)
}

// typedAs is a duration as one types it: 30d and 1m, and not 720h0m0s and 1m0s.
func typedAs(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (lasting) Type() string { return "duration" }

// Set reads a duration.
func (l lasting) Set(text string) error {
	d, err := parseLasting(text)
	if err == nil {
		*l.d = d
	}
	return err
}

// parseLasting reads a duration as 30m, 8h, 30d or 1d12h.
func parseLasting(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "", text
	}
	var d time.Duration
	if found {
		whole, err := time.ParseDuration(days + "h")
		if d = 24 * whole; err != nil || d/24 != whole || strings.ContainsAny(days, "hmsµun") {
			return 0, errDuration
		}
	}
	if rest == "" && found {
		return d, nil
	}
	part, err := time.ParseDuration(rest)
	if err != nil {
		return 0, errDuration
	}
	return d + part, nil
}

var errDuration = errors.New("a duration is typed as 30m, 8h or 7d")

// since is a flag for where to begin in the log: after a position, so far back,
// or at a time.
type since struct {
	position sayso.Seq
	back     time.Duration
	at       time.Time
}

var errSince = errors.New("it takes a position, a duration as 1h or 7d, or a time as 2006-01-02 or \"2006-01-02 15:04:05\"")

// String is empty, so that help names no default.
func (*since) String() string { return "" }

func (*since) Type() string { return "since" }

// Set reads a position, a duration or a time.
func (s *since) Set(text string) error {
	*s = since{}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		s.position = sayso.Seq(n)
		return nil
	}
	if d, err := parseLasting(text); err == nil && d > 0 {
		s.back = d
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			s.at = t
			return nil
		}
	}
	return errSince
}

// from is the time to begin at; zero for all.
func (s *since) from(now time.Time) time.Time {
	if s.back > 0 {
		return now.Add(-s.back)
	}
	return s.at
}

// editFlag is the flag --edit: alone, or with a file.
type editFlag struct{ from *string }

func (e editFlag) String() string { return "" }

// Type says that the flag needs no value.
func (editFlag) Type() string { return "bool" }

// Set takes the file, or what the flag means alone.
func (e editFlag) Set(text string) error {
	*e.from = text
	if text == "true" {
		*e.from = inEditor
	}
	return nil
}
