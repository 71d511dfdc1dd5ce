package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/sayso-dev/sayso/internal/sse"
)

// maxSSEMessage is the longest message that is taken of a server of the older transport:
// to whom it belongs is not known before it is whole, so that it is held until then. Of
// answers that nobody has read yet there may be twice as much: all of a session come on one
// stream, so that none can be left with the server until it is.
var maxSSEMessage = 64 << 20 // less in tests

// sseConn is one session of the older transport: a stream from the server, and an
// address for what is said to it.
type sseConn struct {
	transport *sseTransport
	id        string // that it has here
	endpoint  *url.URL
	stop      context.CancelFunc // of the stream

	mu        sync.Mutex            // guards what follows
	pending   map[string]*sseAnswer // of requests without an answer, by the keys of their ids
	queue     []sseItem             // for who listens, in the order in which it came
	queued    int                   // bytes of it
	unread    int                   // bytes of answers that are there
	listening bool
	ended     bool
	more      chan struct{} // has one if there may be more in the queue, or no more to come
}

// sseItem is a message for who listens or an answer, which is not told before what came
// before it.
type sseItem struct {
	text   []byte
	answer *sseAnswer
}

// sseAnswer is the answer to one request.
type sseAnswer struct {
	done chan struct{} // closed when it is there, or cannot come any more
	text []byte        // nil if it cannot
	size int           // of it, until it is read; guarded by the mutex of the session
}

// roundTrip makes a request of streamable HTTP as one of the older transport.
func (c *sseConn) roundTrip(req *http.Request) (*http.Response, error) {
	switch req.Method {
	case http.MethodPost:
		return c.post(req)
	case http.MethodGet:
		return c.listen(req), nil
	case http.MethodDelete:
		c.end()
		return answered(req, http.StatusNoContent, nil), nil
	}
	closeBody(req)
	return answered(req, http.StatusMethodNotAllowed, nil), nil
}

// post sends a message. The answer to a request comes on the server's stream, perhaps before
// the server has said that it took the request.
func (c *sseConn) post(req *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(req.Body)
	closeBody(req)
	if err != nil {
		return nil, err
	}
	to := likewise(req, http.MethodPost, c.endpoint)
	to.Header.Set("Content-Type", "application/json")
	to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	m, err := readMessage(text)
	if err != nil || !m.isRequest() {
		return c.transport.next.RoundTrip(to)
	}
	key := m.key()
	answer := c.expect(key)
	if answer == nil {
		return answered(req, http.StatusNotFound, nil), nil
	}
	type taken struct {
		resp *http.Response
		err  error
	}
	sent := make(chan taken, 1)
	go func() { // ends with the context of the request
		resp, err := c.transport.next.RoundTrip(to)
		if err == nil && resp.StatusCode/100 == 2 {
			_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
			_ = resp.Body.Close()
		}
		sent <- taken{resp, err}
	}()
	body := &sseAnswerBody{conn: c, key: key, answer: answer, ctx: req.Context(), closed: make(chan struct{})}
	select {
	case got := <-sent:
		if got.err != nil || got.resp.StatusCode/100 != 2 {
			c.forget(key, answer)
			if got.err == nil && got.resp.StatusCode == http.StatusNotFound {
				c.end() // it is the session that the server does not know
			}
			if got.err == nil {
				got.resp.Header.Del("Location") // whoever goes there says it once more
			}
			return got.resp, got.err
		}
	case <-answer.done:
		go func() { // ends with the context of the request
			if got := <-sent; got.err == nil {
				_ = got.resp.Body.Close()
			}
		}()
	}
	return answered(req, http.StatusOK, body), nil
}

// expect has an answer be waited for; nil if none can come.
func (c *sseConn) expect(key string) *sseAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil
	}
	if before := c.pending[key]; before != nil {
		close(before.done) // an answer would be that to this one
	}
	a := &sseAnswer{done: make(chan struct{})}
	c.pending[key] = a
	return a
}

// forget has an answer not be waited for any more, or takes it that it was read.
func (c *sseConn) forget(key string, a *sseAnswer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[key] == a {
		delete(c.pending, key)
	}
	c.unread -= a.size
	a.size = 0
}

// read reads the server's stream until it ends, or more has come than who listens takes.
func (c *sseConn) read(events *sse.Reader) {
	for {
		e, err := events.Next()
		if err != nil {
			return
		}
		if e.Name != sse.DefaultName {
			continue
		}
		flatten(e.Data)
		if !c.take(e.Data) {
			return
		}
	}
}

// take puts a message where it belongs, and reports whether there was room for it.
func (c *sseConn) take(text []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := readMessage(text)
	if err == nil && m.isResponse() {
		key := m.key()
		if a := c.pending[key]; a != nil {
			if c.unread+len(text) > 2*maxSSEMessage {
				return false
			}
			delete(c.pending, key)
			a.text, a.size, c.unread = text, len(text), c.unread+len(text)
			if !c.listening {
				close(a.done)
				return true
			}
			c.add(sseItem{answer: a})
			return true
		}
	}
	if c.queued+itemBytes(text) > maxUndeliveredBytes && c.queued > 0 {
		return false
	}
	c.add(sseItem{text: text})
	return true
}

// add puts an item behind the others. The mutex is held.
func (c *sseConn) add(i sseItem) {
	c.queue = append(c.queue, i)
	if i.answer == nil {
		c.queued += itemBytes(i.text)
	}
	c.wake()
}

// itemBytes is what a message in the queue takes, which is more than itself where it is short.
func itemBytes(text []byte) int { return len(text) + 128 }

// wake has who listens look. The mutex is held.
func (c *sseConn) wake() {
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// listen is the stream of what the server says of itself. There is one at a time.
func (c *sseConn) listen(req *http.Request) *http.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return answered(req, http.StatusNotFound, nil)
	}
	if c.listening {
		return answered(req, http.StatusConflict, nil)
	}
	c.listening = true
	return answered(req, http.StatusOK, &sseListenBody{conn: c, ctx: req.Context()})
}

// end ends the session. Whoever has its id is told so from then on.
func (c *sseConn) end() {
	c.stop()
	c.mu.Lock()
	for key, a := range c.pending {
		delete(c.pending, key)
		close(a.done)
	}
	c.ended = true
	c.wake()
	c.mu.Unlock()
	c.transport.forget(c.id)
}

// eventOf is a message as an event of a stream.
func eventOf(text []byte) io.Reader {
	return io.MultiReader(bytes.NewReader([]byte("data: ")), bytes.NewReader(text), bytes.NewReader([]byte("\n\n")))
}

// sseAnswerBody is the stream that answers one request.
type sseAnswerBody struct {
	conn   *sseConn
	key    string
	answer *sseAnswer
	ctx    context.Context
	once   sync.Once
	closed chan struct{}
	from   io.Reader
}

func (b *sseAnswerBody) Read(p []byte) (int, error) {
	if b.from == nil {
		select {
		case <-b.answer.done:
		case <-b.closed:
			return 0, http.ErrBodyReadAfterClose
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		}
		if b.answer.text == nil {
			return 0, io.ErrUnexpectedEOF
		}
		b.from = eventOf(b.answer.text)
	}
	return b.from.Read(p)
}

func (b *sseAnswerBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	b.conn.forget(b.key, b.answer)
	return nil
}

// sseListenBody is the stream of what answers nothing. Whoever reads on has taken what
// they read before: only then an answer that came behind it is told.
type sseListenBody struct {
	conn *sseConn
	ctx  context.Context
	from io.Reader // the rest of a message
}

func (b *sseListenBody) Read(p []byte) (int, error) {
	for {
		if b.from != nil {
			if n, err := b.from.Read(p); err == nil {
				return n, nil
			}
			b.from = nil
		}
		text, over := b.conn.nextMessage()
		switch {
		case text != nil:
			b.from = eventOf(text)
			continue
		case over:
			return 0, io.EOF
		}
		select {
		case <-b.conn.more:
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		}
	}
}

// nextMessage is the next message of the queue, if there is one; answers before it are
// told. over says that no more will come.
func (c *sseConn) nextMessage() (text []byte, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) > 0 {
		item := c.queue[0]
		c.queue[0] = sseItem{}
		c.queue = c.queue[1:]
		if item.answer == nil {
			c.queued -= itemBytes(item.text)
			return item.text, false
		}
		close(item.answer.done)
	}
	return nil, c.ended
}

// Close has answers wait for nothing more.
func (b *sseListenBody) Close() error {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	b.conn.listening = false
	var rest []sseItem
	for _, item := range b.conn.queue {
		if item.answer != nil {
			close(item.answer.done)
		} else {
			rest = append(rest, item)
		}
	}
	b.conn.queue = rest
	return nil
}
