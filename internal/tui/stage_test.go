package tui_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/tui"
	"github.com/sayso-dev/sayso/saysotest"
)

// stage is the real program at a terminal, over a real broker, in a bubble whose
// time passes when everybody waits.
type stage struct {
	t      *testing.T
	broker *saysotest.Broker
	drawn  frame
	keys   *io.PipeWriter
	p      *tea.Program
	out    *screenful
	asked  int
	turned atomic.Value // a string: which switch is turned
	last   string       // key that was pressed
	torn   atomic.Value // a sayso.ID: the request that cannot be read
}

// rmIsDanger asks about everything, and calls deletion a danger.
type rmIsDanger struct{ saysotest.AskAlways }

func (p rmIsDanger) Judge(ctx context.Context, c sayso.Call, f sayso.Facts) sayso.Verdict {
	v := p.AskAlways.Judge(ctx, c, f)
	if strings.Contains(string(c.Args), "rm -rf") {
		v.Risk, v.Danger = sayso.RiskDestructive, []sayso.Danger{sayso.DangerDelete}
	}
	if strings.Contains(string(c.Args), "with everything") {
		v.Danger = []sayso.Danger{
			sayso.DangerOutside, sayso.DangerDelete, sayso.DangerNetwork, sayso.DangerPrivilege, sayso.DangerDynamic, sayso.DangerInterpreter, sayso.DangerRule,
		}
	}
	return v
}

// screenful is what the program wrote.
type screenful struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (s *screenful) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *screenful) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// staged runs do in a bubble. ahead is typed before the program begins.
func staged(t *testing.T, columns, rows int, ahead string, do func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, broker: saysotest.New(t, saysotest.WithPolicy(rmIsDanger{})), out: &screenful{}}
		s.broker.Leave("*")
		s.start(columns, rows, ahead, do)
	})
}

func (s *stage) start(columns, rows int, ahead string, do func(s *stage)) {
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	in, keys := io.Pipe()
	s.keys = keys
	m := tui.NewModel(ctx, tui.Options{
		Facts:    func(context.Context, sayso.Call) sayso.Facts { return sayso.Facts{} },
		Switched: func() string { text, _ := s.turned.Load().(string); return text },
		Editor:   func(string) (*exec.Cmd, error) { return nil, fmt.Errorf("there is none here") },
	})
	s.p = tea.NewProgram(filmed{m, &s.drawn}, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(s.out), tea.WithWindowSize(columns, rows),
		tea.WithEnvironment([]string{"TERM=xterm"}), tea.WithoutSignals(), tea.WithoutSignalHandler())
	var running sync.WaitGroup
	running.Go(func() {
		tui.Feed(ctx, func(context.Context) (tui.Door, error) { return s.door(), nil }, s.p.Send)
	})
	running.Go(func() { _, _ = s.p.Run() })
	if ahead != "" {
		running.Go(func() { _, _ = io.WriteString(keys, ahead) })
	}
	defer func() {
		s.p.Quit()
		stop()
		_ = keys.Close()
		_ = in.Close()
		running.Wait()
		time.Sleep(2 * time.Second) // the program's last ticks end by themselves
	}()
	s.settle()
	do(s)
}

func (s *stage) door() tui.Door {
	admin := sayso.Actor{Principal: "dev", Kind: sayso.PrincipalAdmin, Channel: "terminal"}
	return tui.Door{Inbox: torn{s.broker.Inbox(), &s.torn}, All: s.broker.InboxOf(admin), Where: "memory"}
}

// turn turns a switch of the machine.
func (s *stage) turn(text string) { s.turned.Store(text) }

// settle lets a moment pass in which all that is under way ends, shorter than a
// prompt is deaf.
func (s *stage) settle() {
	synctest.Wait()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
}

// wait lets time pass.
func (s *stage) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// ask has a call wait, and returns its request.
func (s *stage) ask(call sayso.Call) sayso.Request {
	s.t.Helper()
	r := s.open(call)
	s.settle()
	return r
}

// open is ask that lets no time pass.
func (s *stage) open(call sayso.Call) sayso.Request {
	s.t.Helper()
	s.asked++
	if call.CallID == "" {
		call.CallID = fmt.Sprint("call", s.asked)
	}
	if call.Session == "" {
		call.Session = "s1"
	}
	before := len(s.broker.Asked())
	ended := make(chan error, 1)
	go func() {
		_, err := s.broker.Gate().Admit(s.t.Context(), sayso.Admission{Call: call, CanEdit: true})
		ended <- err
	}()
	synctest.Wait()
	all := s.broker.Asked()
	if len(all) != before+1 {
		s.t.Fatalf("%d requests were opened by %+v: %v", len(all)-before, call, <-ended)
	}
	return all[before]
}

func (s *stage) command(text string) sayso.Request {
	s.t.Helper()
	return s.ask(sayso.Call{Tool: "bash", Args: sayso.Args(fmt.Sprintf(`{"command":%q}`, text)), Cwd: "/w/app"})
}

// press types keys one after the other, as people do.
func (s *stage) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if name := named[k]; name != "" {
			k = name
		}
		s.write(k)
		s.settle()
		if k == s.last {
			s.settle() // it might have been one that is held down
		}
		s.last = k
	}
}

func (s *stage) write(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

// typed types a text, letter by letter.
func (s *stage) typed(text string) {
	s.t.Helper()
	s.press(strings.Split(text, "")...)
}

var named = map[string]string{"esc": "\x1b", "enter": "\r", "down": "\x1b[B", "end": "\x1b[F", "alt+2": "\x1b2"}

// calm waits until a prompt takes answers.
func (s *stage) calm() { s.wait(time.Second) }

// shows fails unless all of the texts are on the screen.
func (s *stage) shows(texts ...string) {
	s.t.Helper()
	screen := s.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			s.t.Errorf("not on the screen: %q\n%s", text, screen)
		}
	}
}

func (s *stage) hides(texts ...string) {
	s.t.Helper()
	screen := s.screen()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			s.t.Errorf("on the screen: %q\n%s", text, screen)
		}
	}
}

func (s *stage) screen() string {
	return ansi.Strip(s.view().Content)
}

// view is what the program drew last.
func (s *stage) view() tea.View {
	synctest.Wait()
	s.drawn.mu.Lock()
	defer s.drawn.mu.Unlock()
	return s.drawn.view
}

// frame is what a model drew last.
type frame struct {
	mu   sync.Mutex // guards view
	view tea.View
}

// filmed is a model that is looked at from another goroutine than its own.
type filmed struct {
	tea.Model
	frame *frame
}

func (f filmed) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m, cmd := f.Model.Update(msg)
	return filmed{m, f.frame}, cmd
}

func (f filmed) View() tea.View {
	v := f.Model.View()
	f.frame.mu.Lock()
	defer f.frame.mu.Unlock()
	f.frame.view = v
	return v
}

// state is where a request stands now.
func (s *stage) state(r sayso.Request) sayso.State { return s.now(r).State }

func (s *stage) now(r sayso.Request) sayso.Request {
	s.t.Helper()
	now, err := s.broker.Inbox().Request(s.t.Context(), string(r.ID))
	if err != nil {
		s.t.Fatal(err)
	}
	return now
}

func (s *stage) stands(r sayso.Request, want sayso.State) {
	s.t.Helper()
	if got := s.state(r); got != want {
		s.t.Errorf("%s is %s, want %s\n%s", r.ShortID, got, want, s.screen())
	}
}

// elsewhere answers as somebody else.
func (s *stage) elsewhere(r sayso.Request, e sayso.Effect) {
	s.t.Helper()
	ann := sayso.Actor{Principal: "ann", Kind: sayso.PrincipalAdmin, Channel: "page"}
	a := sayso.Answer{Effect: e, Digest: r.Digest, Content: r.Content}
	if _, err := s.broker.InboxOf(ann).Answer(s.t.Context(), r.ID, a); err != nil {
		s.t.Fatal(err)
	}
	s.settle()
}

// ours are the sequences that this program draws with: those that it shares with
// package present.
var ours = regexp.MustCompile("\x1b\\[(0|1|2|7|31|32|33|34|35|36)m")

func windowSize(columns, rows int) tea.Msg { return tea.WindowSizeMsg{Width: columns, Height: rows} }
