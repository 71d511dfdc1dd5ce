package home

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings are all the settings there are, with their sources. What is not set
// has its zero value, which is the default.
type Settings struct {
	Home      string        // where everything lies
	Server    string        // base URL of a server elsewhere; empty for this machine
	TokenFile string        // whose token to act with; empty for our own
	Listen    string        // where the server listens besides its socket; empty for nowhere
	PublicURL string        // under which people reach the server
	TLSCert   string        // file of the server's own certificate; empty for none
	TLSKey    string        // file of its key
	Proxy     string        // addresses and networks of proxies with TLS before the server, by commas
	Patience  time.Duration // of the hook and of ask
	Keep      time.Duration // of the content of requests that ended; negative for ever
	Notice    string        // on or off
	LogLevel  string        // debug, info, warn or error

	known []Setting
}

// Setting is one setting as `sayso config` shows it.
type Setting struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Source  string `json:"source"` // flag, env or default
	Env     string `json:"env"`
	Meaning string `json:"meaning"`
}

// field ties a setting's name to its place.
type field struct {
	name, otherwise, meaning string
	set                      func(*Settings, string) error
}

// DefaultListen is where serve listens besides its socket if nobody says
// otherwise.
const DefaultListen = "127.0.0.1:7117"

var fields = []field{
	{"home", "", "one folder for everything", func(s *Settings, v string) error { s.Home = v; return nil }},
	{"server", "", "base URL of a server elsewhere", func(s *Settings, v string) error { s.Server = v; return nil }},
	{"token-file", "", "file of the token to act with", func(s *Settings, v string) error { s.TokenFile = v; return nil }},
	{"listen", DefaultListen, "address that serve listens on besides its socket, or none", func(s *Settings, v string) error { s.Listen = v; return nil }},
	{"public-url", "", "address under which people reach the server", func(s *Settings, v string) error { s.PublicURL = v; return nil }},
	{"tls-cert", "", "file of the certificate that serve shows", func(s *Settings, v string) error { s.TLSCert = v; return nil }},
	{"tls-key", "", "file of the key of that certificate", func(s *Settings, v string) error { s.TLSKey = v; return nil }},
	{"proxy", "", "addresses or networks of the proxies with TLS before serve", func(s *Settings, v string) error { s.Proxy = v; return nil }},
	{"patience", "50m", "how long a hook waits for people before it says not decided yet", setPatience},
	{"keep-content", "30d", "how long what was said and shown is kept after a request ended, or forever", setKeep},
	{"notice", "on", "desktop notice and bell when nobody watches: on or off", setNotice},
	{"log-level", "info", "debug, info, warn or error", setLevel},
}

func setPatience(s *Settings, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		return fmt.Errorf("patience must be a time as 50m, not %s", strconv.Quote(v))
	}
	s.Patience = d
	return nil
}

func setKeep(s *Settings, v string) error {
	if v == "forever" {
		s.Keep = -1
		return nil
	}
	d, err := time.ParseDuration(v)
	if days, found := strings.CutSuffix(v, "d"); found {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 {
		return fmt.Errorf("keep-content must be a time as 30d or 12h, or forever, not %s", strconv.Quote(v))
	}
	s.Keep = d
	return nil
}

func setNotice(s *Settings, v string) error { return oneOf("notice", v, &s.Notice, "on", "off") }

func setLevel(s *Settings, v string) error {
	return oneOf("log-level", v, &s.LogLevel, "debug", "info", "warn", "error")
}

func oneOf(name, v string, into *string, words ...string) error {
	if !slices.Contains(words, v) {
		return fmt.Errorf("%s must be %s, not %s", name, strings.Join(words, " or "), strconv.Quote(v))
	}
	*into = v
	return nil
}

// reserved are variables of ours that are no settings: those of the tests, and
// those by which what drives a host tells what runs below it.
var reserved = []string{"SAYSO_OFFLINE", "SAYSO_TEST_CACHE", Driven, "SAYSO_OPENCODE_GATED"}

// Load reads the settings: a flag by its name counts before the variable
// SAYSO_NAME, that before the default. A variable of that kind which is none
// of ours is a warning: it may be a setting with a slip in its name.
func Load(environ []string, flags map[string]string) (Settings, []string, error) {
	env := map[string]string{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok && strings.HasPrefix(name, "SAYSO_") {
			env[name] = value
		}
	}
	var s Settings
	for _, f := range fields {
		k := Setting{Name: f.name, Value: f.otherwise, Source: "default", Meaning: f.meaning}
		k.Env = "SAYSO_" + strings.ToUpper(strings.ReplaceAll(f.name, "-", "_"))
		if v := env[k.Env]; v != "" {
			k.Value, k.Source = v, "env"
		}
		if v, ok := flags[f.name]; ok {
			k.Value, k.Source = v, "flag"
		}
		delete(env, k.Env)
		if k.Value != "" {
			if err := f.set(&s, k.Value); err != nil {
				return Settings{}, nil, fmt.Errorf("%s (from the %s): %w", k.Env, k.Source, err)
			}
		}
		s.known = append(s.known, k)
	}
	return s, unknown(env), nil
}

func unknown(env map[string]string) []string {
	var warnings []string
	for name := range env {
		if !slices.Contains(reserved, name) {
			warnings = append(warnings, name+" is set, but no setting has that name; `sayso config` lists them")
		}
	}
	slices.Sort(warnings)
	return warnings
}

// All returns every setting with its source, in a fixed order.
func (s Settings) All() []Setting { return s.known }
