package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// The sketch is the least that can go the way of a cycle: what was asked and what
// was answered are rows of a file of the same database, durable before anybody is
// told. It judges nothing, hides nothing, knows nobody and keeps no index. How
// far the product is from it is what the product does besides; how far it is
// itself from a budget is what this machine and that database leave.

// sketchLog is one table and one connection.
type sketchLog struct {
	conn *sqlite.Conn

	turn sync.Mutex // who writes

	mu    sync.Mutex // guards what follows
	queue []*sketchRows
}

// sketchRows are rows on their way into the file.
type sketchRows struct {
	n    int
	body string
	done bool // guarded by turn
	err  error
}

func openSketch(dir string) (*sketchLog, error) {
	conn, err := sqlite.OpenConn(filepath.Join(dir, "sketch.db"), sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenWAL)
	if err != nil {
		return nil, err
	}
	for _, do := range []string{`PRAGMA synchronous = FULL`, `CREATE TABLE log (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)`} {
		err = errors.Join(err, sqlitex.ExecuteTransient(conn, do, nil))
	}
	return &sketchLog{conn: conn}, err
}

// add makes n rows durable. Whoever has the turn takes with them what others
// wait to add.
func (l *sketchLog) add(n int, body string) error {
	r := &sketchRows{n: n, body: body}
	l.mu.Lock()
	l.queue = append(l.queue, r)
	l.mu.Unlock()
	l.turn.Lock()
	defer l.turn.Unlock()
	if r.done {
		return r.err
	}
	l.mu.Lock()
	group := l.queue
	l.queue = nil
	l.mu.Unlock()
	err := l.commit(group)
	for _, r := range group {
		r.done, r.err = true, err
	}
	return err
}

func (l *sketchLog) commit(group []*sketchRows) (err error) {
	end, err := sqlitex.ImmediateTransaction(l.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	insert, err := l.conn.Prepare(`INSERT INTO log (body) VALUES (?)`)
	if err != nil {
		return err
	}
	for _, r := range group {
		for range r.n {
			insert.BindText(1, r.body)
			if _, err := insert.Step(); err != nil {
				return err
			}
			if err := insert.Reset(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sketchGate has askers wait for a person.
type sketchGate struct {
	log *sketchLog

	mu      sync.Mutex // guards what follows
	next    int
	waiting map[int]chan struct{}
	follows []chan int
}

func (g *sketchGate) ask(body string) error {
	decided := make(chan struct{})
	g.mu.Lock()
	g.next++
	id := g.next
	g.waiting[id] = decided
	g.mu.Unlock()
	if err := g.log.add(1, body); err != nil {
		return err
	}
	g.mu.Lock()
	for _, f := range g.follows {
		f <- id
	}
	g.mu.Unlock()
	<-decided
	return nil
}

func (g *sketchGate) decide(text string) error {
	id, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	if err := g.log.add(2, "allow"); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.waiting[id])
	delete(g.waiting, id)
	return nil
}

func (g *sketchGate) follow() <-chan int {
	f := make(chan int, 1<<16)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.follows = append(g.follows, f)
	return f
}

// ServeHTTP serves a cycle over HTTP.
func (g *sketchGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
	case r.URL.Path == "/ask":
		err = g.ask(string(body))
	case r.URL.Path == "/answer":
		err = g.decide(string(body))
	default:
		ids, flush := g.follow(), http.NewResponseController(w)
		for err = flush.Flush(); err == nil; err = flush.Flush() {
			select {
			case id := <-ids:
				_, _ = fmt.Fprintln(w, id) // the flush tells
			case <-r.Context().Done():
				return
			}
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// converse serves many cycles on one connection, a line each way: of agents, or of
// the person.
func (g *sketchGate) converse(c net.Conn) {
	defer c.Close()
	var mu sync.Mutex
	write := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(c, text+"\n") // the reader sees the end
	}
	for lines := scanner(c); lines.Scan(); {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		name, body, _ := strings.Cut(rest, " ")
		switch verb {
		case "follow":
			ids := g.follow()
			go func() { // ends with the process
				for id := range ids {
					write("asked " + strconv.Itoa(id))
				}
			}()
		case "answer":
			go func() { _ = g.decide(body); write(name) }()
		default:
			go func() { _ = g.ask(body); write(name) }() // an error shows over HTTP
		}
	}
}

// sketchServe is the server of the sketch.
func sketchServe(c *child) error {
	var task serving
	told := make(chan struct{}, 1)
	ctx, err := c.begin(&task, func() { told <- struct{}{} })
	if err != nil {
		return err
	}
	log, err := openSketch(task.Dir)
	if err != nil {
		return err
	}
	tcp, err := listen(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sb-") // paths of sockets must be short
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	socket, err := (&net.ListenConfig{}).Listen(ctx, "unix", filepath.Join(dir, "s"))
	if err != nil {
		return err
	}
	g := &sketchGate{log: log, waiting: map[int]chan struct{}{}}
	go func() { // ends with the process
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			go g.converse(conn)
		}
	}()
	go func() { _ = http.Serve(tcp, g) }() // ends with the process
	if err := c.write(ready{HTTP: "http://" + tcp.Addr().String(), Socket: socket.Addr().String(), Sketch: true}); err != nil {
		return err
	}
	for {
		select {
		case <-told:
			if err := c.write(used()); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// sketchRelay is a gate before [tools] that records a row for each line of the
// client and hands it on.
func sketchRelay(*child) error {
	log, err := openSketch(os.Getenv(gatewayHome))
	if err != nil {
		return err
	}
	if err := errors.Join(os.Setenv(roleVariable, roleTools), os.Unsetenv(profileVariable)); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	server := exec.Command(exe)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	to, err := server.StdinPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(os.Stdout, out) }() // ends with the server
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return errors.Join(to.Close(), server.Wait())
		}
		if err := log.add(3, string(bytes.TrimSpace(line))); err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}
