package server_test

import (
	"testing"

	"github.com/sayso-dev/sayso/server"
)

// What a browser says of itself becomes words of ours, and nothing of it stays.
func TestDevice(t *testing.T) {
	for said, want := range map[string]string{
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1":  "Chrome on iPhone",
		"Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36":                   "Chrome on Android",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0":                   "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 15.7; rv:144.0) Gecko/20100101 Firefox/144.0":                                                     "Firefox on Mac",
		"Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0":                                                                  "Firefox on Linux",
		"ana's own phone <b>": "a browser",
		"":                    "a browser",
	} {
		w := newHarness(t, func(o *server.Options) {
			o.Login = func(in server.SignIn) (string, error) { return "person " + in.Device, nil }
		})
		r := w.request("", "POST", "/v1/login", `{"code":"once"}`, "Origin: http://"+w.addr, "User-Agent: "+said)
		if got := string(r.body); got != `{"token":"person `+want+`"}` {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
}
