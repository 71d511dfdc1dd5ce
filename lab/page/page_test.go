//go:build unix

package page_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// root is the folder of the module.
const root = "../.."

// built has the page built and returns a program with it, the browser, or what
// is missing and how to get it.
func built(dir string) (program, browser string, err error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if browser, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return "", "", errors.New("no browser: apt-get install chromium")
	}
	for name, why := range map[string]string{"node": "Node 20 or newer runs the stories", "npm": "npm fetches what builds the page"} {
		if _, err := exec.LookPath(name); err != nil {
			return "", "", fmt.Errorf("no %s: %s", name, why)
		}
	}
	program = filepath.Join(dir, "sayso")
	for _, cmd := range []*exec.Cmd{
		exec.Command("make", "-s", "-C", root, "web"),
		exec.Command("go", "build", "-C", root, "-trimpath", "-o", program, "./cmd/sayso"),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", "", fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	return program, browser, nil
}

// rounds is how many rounds of keys are sent around the moment in which a prompt
// is drawn, replaced or moved.
var rounds = flag.Int("rounds", 42, "rounds of keys around the moment of a prompt; the promise is about 1000")

// ended is how many requests end while somebody looks at the history.
var ended = flag.Int("ended", 1000, "requests that end under the history, at least 700; the promise is about 10000")

// TestStories runs the stories of web/ui/e2e.
func TestStories(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time; type: go test ./lab/page")
	}
	program, browser, err := built(t.TempDir())
	if err != nil && os.Getenv("SAYSO_OFFLINE") == "1" {
		t.Skipf("the page cannot be tried in a browser (%v), and SAYSO_OFFLINE=1 lets that pass; type: SAYSO_OFFLINE= make test", err)
	}
	if err != nil {
		t.Fatalf("%v; or set SAYSO_OFFLINE=1 to leave this test out", err)
	}
	first, all, err := scripts(filepath.Join(root, "web/dist/page"))
	if err != nil || first == 0 || first > 60_000 || all > 85_000 {
		t.Errorf("the scripts that the page begins with have %d bytes, gzipped, and all of them %d; want at most 60,000 and 85,000 (%v)", first, all, err)
	}
	began := time.Now()
	told, out, err := tell(t, program, browser)
	if err != nil { // a browser on a busy machine is late at times; what is wrong is wrong twice
		t.Logf("all stories once more: %v\n%s", err, out)
		told, out, err = tell(t, program, browser)
	}
	if err != nil {
		t.Fatalf("%d stories came out right: %v\n%s", told, err, out)
	}
	t.Logf("%d stories in %s; the scripts that the page begins with have %d bytes, gzipped, and all of them %d", told, time.Since(began).Round(time.Second), first, all)
}

// tell runs all stories and counts those that came out right.
func tell(t *testing.T, program, browser string) (told int, out []byte, err error) {
	t.Helper()
	stories, err := filepath.Glob(filepath.Join(root, "web/ui/e2e/*.test.mjs"))
	if err != nil {
		return 0, nil, err
	}
	written := 0
	for i, name := range stories {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, nil, err
		}
		written += bytes.Count(text, []byte("\ntest("))
		stories[i] = filepath.Join("e2e", filepath.Base(name))
	}
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"--test", "--test-concurrency=4", "--test-reporter=spec"}, stories...)...)
	cmd.Dir = filepath.Join(root, "web/ui")
	cmd.Env = append(os.Environ(), "SAYSO_BIN="+program, fmt.Sprint("ROUNDS=", *rounds), fmt.Sprint("ENDED=", *ended), "CHROMIUM="+browser)
	cmd.Env = append(cmd.Env, "SAYSO_TEAR="+os.Args[0])
	cmd.Env = append(cmd.Env, certify(t, t.TempDir(), "box.test")...)
	out, err = cmd.CombinedOutput()
	told = strings.Count(string(out), "✔ ")
	if err == nil && (told == 0 || told < written) {
		err = fmt.Errorf("%d stories are written", written)
	}
	return told, out, err
}

// scripts is how long the scripts of a page are, compressed: those that its
// document names, and with them those that are loaded where somebody goes.
func scripts(dir string) (first, all int, err error) {
	document, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		return 0, 0, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "assets", "*.js"))
	for _, name := range names {
		n, err := gzipped(name)
		if err != nil {
			return 0, 0, err
		}
		all += n
		if strings.Contains(string(document), filepath.Base(name)) {
			first += n
		}
	}
	return first, all, err
}

// gzipped is how long a file is, compressed.
func gzipped(name string) (int, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return 0, err
	}
	err = w.Close()
	return b.Len(), err
}
