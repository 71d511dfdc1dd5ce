package desktop_test

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// bus starts a message bus as a desktop has one, and returns its address.
func bus(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bus")
	cmd := exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path="+path)
	if err := cmd.Start(); err != nil {
		t.Skipf("there is no message bus on this machine: %v; type: sudo apt-get install dbus libglib2.0-bin", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // nothing of it is kept
	until(t, "the bus listens", func() bool {
		c, err := net.Dial("unix", path)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return path
}

// shown is what a desktop was asked to show.
type shown struct{ app, title, text string }

// desktop is a service that shows notices: it takes the name that desktops
// take, answers as they do, and hands on what it is asked to show.
func desktop(t *testing.T, path string) <-chan shown {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	d := &peer{c: c, in: bufio.NewReader(c)}
	if err := d.greet(); err != nil {
		t.Fatal(err)
	}
	asked := make(chan shown, 16)
	go func() { // ends with the connection
		for {
			m, err := d.read()
			if err != nil {
				return
			}
			if m.kind == methodCall {
				d.serve(m, asked)
			}
		}
	}()
	return asked
}

// The kinds of messages, and the fields of their headers, as D-Bus numbers them.
const (
	methodCall, methodReturn, failure = 1, 2, 3

	fieldPath, fieldInterface, fieldMember, fieldError, fieldReply, fieldDestination, fieldSender, fieldSignature = 1, 2, 3, 4, 5, 6, 7, 8
)

type message struct {
	kind   byte
	serial uint32
	fields map[byte]string
	body   []byte
}

// peer is one end of a connection to a bus.
type peer struct {
	c      net.Conn
	in     *bufio.Reader
	serial uint32
}

// greet names itself to the bus and takes the desktop's name.
func (p *peer) greet() error {
	uid := hex.EncodeToString([]byte(strconv.Itoa(os.Getuid())))
	if _, err := fmt.Fprintf(p.c, "\x00AUTH EXTERNAL %s\r\n", uid); err != nil {
		return err
	}
	if line, err := p.in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "OK") {
		return fmt.Errorf("the bus says %q: %w", line, err)
	}
	if _, err := io.WriteString(p.c, "BEGIN\r\n"); err != nil {
		return err
	}
	if err := p.call("Hello", "", nil); err != nil {
		return err
	}
	name := appendString(nil, "org.freedesktop.Notifications")
	return p.call("RequestName", "su", binary.LittleEndian.AppendUint32(pad(name, 4), 0))
}

// call calls a method of the bus and waits for its answer.
func (p *peer) call(member, signature string, body []byte) error {
	const name = "org.freedesktop.DBus"
	fields := map[byte]string{fieldPath: "/org/freedesktop/DBus", fieldInterface: name, fieldMember: member, fieldDestination: name}
	if signature != "" {
		fields[fieldSignature] = signature
	}
	if err := p.write(methodCall, fields, 0, body); err != nil {
		return err
	}
	for {
		m, err := p.read()
		if err != nil || m.kind == methodReturn {
			return err
		}
		if m.kind == failure {
			return fmt.Errorf("%s: %s", member, m.fields[fieldError])
		}
	}
}

// serve answers one call of somebody who wants something shown.
func (p *peer) serve(m message, asked chan<- shown) {
	reply := map[byte]string{fieldDestination: m.fields[fieldSender]}
	kind, body := byte(methodReturn), []byte(nil)
	switch m.fields[fieldMember] {
	case "Notify":
		r := reader{b: m.body}
		s := shown{app: r.text()}
		_ = r.number()
		_ = r.text() // an icon
		s.title, s.text = r.text(), r.text()
		asked <- s
		reply[fieldSignature], body = "u", binary.LittleEndian.AppendUint32(nil, 1)
	case "GetServerInformation":
		reply[fieldSignature] = "ssss"
		for _, word := range []string{"desktop", "sayso", "1", "1.2"} {
			body = appendString(pad(body, 4), word)
		}
	case "GetCapabilities":
		words := appendString(nil, "body")
		reply[fieldSignature], body = "as", append(binary.LittleEndian.AppendUint32(nil, uint32(len(words))), words...)
	default:
		kind, reply[fieldError] = failure, "org.freedesktop.DBus.Error.UnknownMethod"
	}
	_ = p.write(kind, reply, m.serial, body) // who asked may be gone
}

func (p *peer) write(kind byte, fields map[byte]string, reply uint32, body []byte) error {
	p.serial++
	var list []byte
	for code, text := range fields {
		list = append(pad(list, 8), code)
		switch code {
		case fieldPath:
			list = appendString(pad(append(list, 1, 'o', 0), 4), text)
		case fieldSignature:
			list = append(append(list, 1, 'g', 0, byte(len(text))), text+"\x00"...)
		default:
			list = appendString(pad(append(list, 1, 's', 0), 4), text)
		}
	}
	if kind != methodCall {
		list = append(pad(list, 8), fieldReply, 1, 'u', 0)
		list = binary.LittleEndian.AppendUint32(pad(list, 4), reply)
	}
	head := []byte{'l', kind, 0, 1}
	head = binary.LittleEndian.AppendUint32(head, uint32(len(body)))
	head = binary.LittleEndian.AppendUint32(head, p.serial)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(list)))
	_, err := p.c.Write(append(pad(append(head, list...), 8), body...))
	return err
}

func (p *peer) read() (m message, err error) {
	head := make([]byte, 16)
	if _, err := io.ReadFull(p.in, head); err != nil {
		return m, err
	}
	if head[0] != 'l' {
		return m, fmt.Errorf("a message that begins with %q", head[0])
	}
	m.kind, m.serial = head[1], binary.LittleEndian.Uint32(head[8:])
	size, list := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[12:])
	rest := make([]byte, (list+7)/8*8+size)
	if _, err := io.ReadFull(p.in, rest); err != nil {
		return m, err
	}
	m.fields, m.body = map[byte]string{}, rest[(list+7)/8*8:]
	for r := (reader{b: rest[:list]}); r.at < len(r.b); {
		r.align(8)
		code := r.byte()
		switch signature := r.signature(); signature {
		case "s", "o":
			m.fields[code] = r.text()
		case "g":
			m.fields[code] = r.signature()
		default:
			_ = r.number()
		}
	}
	return m, nil
}

// reader reads values as D-Bus lays them out.
type reader struct {
	b  []byte
	at int
}

func (r *reader) align(n int) { r.at = (r.at + n - 1) / n * n }

func (r *reader) byte() byte { r.at++; return r.b[r.at-1] }

func (r *reader) number() uint32 {
	r.align(4)
	r.at += 4
	return binary.LittleEndian.Uint32(r.b[r.at-4:])
}

func (r *reader) text() string {
	n := int(r.number())
	r.at += n + 1
	return string(r.b[r.at-n-1 : r.at-1])
}

func (r *reader) signature() string {
	n := int(r.byte())
	r.at += n + 1
	return string(r.b[r.at-n-1 : r.at-1])
}

func pad(b []byte, n int) []byte {
	for len(b)%n != 0 {
		b = append(b, 0)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s+"\x00"...)
}
