package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	takes := map[string]string{"int": "it takes a number", "bool": "it is true or false", "duration": errDuration.Error()}[wrong.GetFlag().Value.Type()]
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
	return l.d.String()
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
