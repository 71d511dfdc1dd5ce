package server

import (
	"net/http"
	"strings"
)

// browsers and systems are the words by which a browser says what it is, the
// telling ones first: most say the words of others too.
var (
	browsers = [][2]string{{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"Edg", "Edge"}, {"OPR/", "Opera"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}}
	systems  = [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"}, {"CrOS", "Chromebook"}, {"Linux", "Linux"}}
)

// signIn is what is known of who brings a code.
func signIn(code string, r *http.Request) SignIn {
	in := SignIn{Code: code, Origin: r.Header.Get("Origin")}
	if in.Origin != "" {
		in.Device = browserName(r.UserAgent())
	}
	return in
}

// browserName is a browser in words of ours, from what it says of itself.
func browserName(said string) string {
	browser, system := firstMatch(browsers, said), firstMatch(systems, said)
	if browser == "" {
		browser = "a browser"
	}
	if system == "" {
		return browser
	}
	return browser + " on " + system
}

func firstMatch(table [][2]string, said string) string {
	for _, row := range table {
		if strings.Contains(said, row[0]) {
			return row[1]
		}
	}
	return ""
}
