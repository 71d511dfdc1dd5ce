package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

// TestMain makes the test binary a server, or a gateway before one, when it is
// started as that.
func TestMain(m *testing.M) {
	switch os.Getenv("GATEWAY_TEST") {
	case "server":
		serverProcess(os.Args[1])
	case "gateway":
		end, err := gatewayProcess(os.Stdin, os.Stdout, nil, os.Args[1])
		if err != nil {
			panic(err)
		}
		os.Exit(end.Status)
	}
	goleak.VerifyTestMain(m) // no goroutine outlives the tests
}

// serverProcess says which process it is, and then does as it is told.
func serverProcess(what string) {
	fmt.Fprintln(os.Stderr, "begun")
	var life *os.File
	if name := os.Getenv("LIFELINE"); name != "" {
		var err error
		if life, err = os.OpenFile(name, os.O_WRONLY, 0); err != nil {
			panic(err)
		}
	}
	say := func(text string) {
		fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%q}}`+"\n", text)
	}
	switch what {
	case "status":
		os.Exit(7)
	case "signal":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "echoes": // until it is told to end
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			switch text := in.Text(); {
			case strings.Contains(text, `"method":"end"`):
				os.Exit(0)
			case strings.Contains(text, `"method":"asks"`): // its client, before it answers
				said := []string{}
				for _, method := range []string{"ping", "roots/list", "sampling/createMessage", "elicitation/create"} {
					fmt.Printf(`{"jsonrpc":"2.0","id":"q","method":%q}`+"\n", method)
					in.Scan()
					said = append(said, in.Text())
				}
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"said":[%s]}}`+"\n", between(text, `"id":`, ","), strings.Join(said, ","))
			case strings.Contains(text, `"method":"tools/list"`):
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`+"\n", between(text, `"id":`, ","), echoTool)
			case strings.Contains(text, `"id":`):
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"process":%d}}`+"\n", between(text, `"id":`, ","), os.Getpid())
			}
		}
	case "environment":
		say(os.Getenv("A_SECRET"))
	case "stays": // whatever it is told
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		say(strconv.Itoa(os.Getpid()))
		never := make(chan os.Signal, 1)
		signal.Notify(never, syscall.SIGUSR2)
		<-never
		runtime.KeepAlive(life)
	case "hears":
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, syscall.SIGUSR1)
		say("ready")
		<-heard
		os.Exit(9)
	case "leaves something": // that holds its output
		c := exec.Command("sleep", "3600")
		c.Stdout, c.ExtraFiles = os.Stdout, []*os.File{life}
		_ = c.Start()
		say(strconv.Itoa(c.Process.Pid))
		os.Exit(3)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(life)
	os.Exit(0)
}

// gatewayProcess serves a server of this program.
func gatewayProcess(in io.Reader, out io.Writer, signals <-chan os.Signal, what string) (gateway.End, error) {
	_ = os.Setenv("GATEWAY_TEST", "server")
	s := gateway.Server{Args: []string{os.Args[0], what}, Stderr: os.Stderr, Signals: signals}
	return s.Serve(context.Background(), gateway.Options{Gate: &allowGate{}, Pins: &seenPins{seen: map[string]bool{}}, Name: "srv", Session: "s"}, in, out)
}

// A gateway ends as its server does.
func TestServer_endsAlike(t *testing.T) {
	t.Setenv("GATEWAY_TEST", "server")
	t.Setenv("A_SECRET", "hunter2")
	for what, want := range map[string]struct {
		end gateway.End
		out string
	}{
		"status":      {gateway.End{Status: 7}, ""},
		"signal":      {gateway.End{Status: 137, Signal: syscall.SIGKILL}, ""},
		"environment": {gateway.End{}, "hunter2"},
		"waits":       {gateway.End{}, ""},
	} {
		var out bytes.Buffer
		end, err := gatewayProcess(strings.NewReader(""), &out, nil, what)
		if err != nil || end != want.end || !strings.Contains(out.String(), want.out) {
			t.Errorf("%s: %+v, %v, %q", what, end, err, out.String())
		}
	}
	if _, err := (gateway.Server{Args: []string{"/no/such/server"}}).Serve(t.Context(), gateway.Options{Name: "x"}, strings.NewReader(""), io.Discard); err == nil {
		t.Error("a server that is not there began")
	}
}

// Signals reach the server, and what it leaves behind ends with it.
func TestServer_signals(t *testing.T) {
	t.Setenv("GATEWAY_TEST", "server")
	in, client := io.Pipe()
	defer client.Close()
	fromGateway, out := io.Pipe()
	signals := make(chan os.Signal, 1)
	done := make(chan gateway.End)
	go func() {
		end, _ := gatewayProcess(in, out, signals, "hears")
		done <- end
	}()
	if _, err := bufio.NewReader(fromGateway).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	signals <- syscall.SIGUSR1
	if end := <-done; end.Status != 9 {
		t.Errorf("it ended with %+v", end)
	}
}

func TestServer_leavesNothing(t *testing.T) {
	t.Setenv("GATEWAY_TEST", "server")
	life := lifeline(t)
	in, client := io.Pipe()
	defer client.Close()
	var out bytes.Buffer
	end, err := gatewayProcess(in, &out, nil, "leaves something")
	if err != nil || end.Status != 3 {
		t.Errorf("%+v, %v", end, err)
	}
	gone(t, life, pidIn(t, out.String()))
}

// A gateway that is killed takes its server with it.
func TestServer_killed(t *testing.T) {
	if !diesWithUs {
		t.Skip("only Linux ends a server that does not read with its gateway; type: GOOS=linux go test ./gateway")
	}
	life := lifeline(t)
	cmd := exec.Command(os.Args[0], "stays")
	cmd.Env = append(os.Environ(), "GATEWAY_TEST=gateway")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	gone(t, life, pidIn(t, line))
}

// pidIn is the process that a message names.
func pidIn(t *testing.T, line string) int {
	t.Helper()
	var pid int
	_, data, _ := strings.Cut(line, `"data":"`)
	if _, err := fmt.Sscanf(data, "%d", &pid); err != nil {
		t.Fatalf("no process in %q", line)
	}
	return pid
}

// lifeline returns a pipe that a process holds which opens it by the name in
// LIFELINE: it can be read to its end once that process has ended.
func lifeline(t *testing.T) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "lifeline")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LIFELINE", name)
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// gone fails unless the process that holds a lifeline ends.
func gone(t *testing.T, life *os.File, pid int) {
	t.Helper()
	if err := life.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, life); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d is alive: %v", pid, err)
	}
}

// What a server is, is its command line and its program; what is secret in the
// first is not shown.
func TestIdentity(t *testing.T) {
	one, err := gateway.Identity([]string{os.Args[0], "--token", "ghp_Zq81Xk7Wv99Np3Zq81Xk7Wv99Np3Zq81Xk7W"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(one), "Zq81Xk") || !strings.Contains(string(one), "--token") {
		t.Errorf("%s", one)
	}
	digest := func(args ...string) sayso.Digest {
		text, err := gateway.Identity(args)
		if err != nil {
			t.Fatal(err)
		}
		return sayso.Definition{Text: text}.Digest()
	}
	seen := map[sayso.Digest]string{}
	for _, args := range [][]string{{os.Args[0]}, {os.Args[0], "a", "b"}, {os.Args[0], "a b"}, {"sh"}, {os.Args[0], "ghp_Zq81Xk7Wv99Np3Zq81Xk7Wv99Np3Zq81Xk7W"}, {os.Args[0], "ghp_Zq81Xk7Wv99Np3Zq81Xk7Wv99Np3Zq81Xk7X"}} {
		d := digest(args...)
		if before, ok := seen[d]; ok {
			t.Errorf("%q and %s are one", args, before)
		}
		seen[d] = fmt.Sprint(args)
	}
	for want, args := range map[string][]string{
		"server-filesystem": {"npx", "-y", "@modelcontextprotocol/server-filesystem@1.2", "/a"}, "thing": {"/usr/bin/thing", "x"},
		"main": {"node", "dist/main.js"}, "mcp-server-git": {"uvx", "mcp-server-git"}, "npx": {"npx", "-y"},
		"srv": {"env", "-i", "GITHUB_TOKEN=ghp_Zq81Xk7Wv99Np3Zq81Xk7Wv99Np3Zq81Xk7W", "python3", "-u", "/opt/srv.py"},
		"app": {"node", "--api-key", "hunter2", "app.js"},
	} {
		if got, err := gateway.NameOf(args); got != want || err != nil {
			t.Errorf("%q is called %q, want %q: %v", args, got, want, err)
		}
	}
}

// The name of a server stands in rows that cannot be erased: nothing that could
// be a secret becomes one.
func TestNameOf_secrets(t *testing.T) {
	const secret = "ghp_Zq81Xk7Wv99Np3Zq81Xk7Wv99Np3Zq81Xk7W"
	for _, args := range [][]string{
		{"sh", "-c", "hunter2"}, {"bash", "-lc", "hunter2"}, {"python3", "-Ic", "hunter2"}, {"node", "-e", "hunter2"}, {"node", "--eval=1", "hunter2"},
		{"env", "-S", "hunter2"}, {"deno", "eval", "hunter2"}, {"env", "A=1", "sh", "-c", "hunter2"}, {"npx", "--call", "hunter2"},
		{"npx", secret}, {"uvx", "--index-url", "https://ada:hunter2@example.org", "srv"},
		{"python", "two words"}, {secret}, {""}, {"node", "."},
	} {
		if name, err := gateway.NameOf(args); err == nil {
			t.Errorf("%q is called %q", args, name)
		} else if !strings.Contains(err.Error(), "--name") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
