package wire

import "sync"

// chunkSize is how long a message may become by putting frames together.
const chunkSize = 256 << 10

// Outbox collects frames from many goroutines for the one that writes them, so
// that frames which come while a message is being written become one message.
// Its zero value is not ready; use [NewOutbox].
type Outbox struct {
	batch bool
	ready chan struct{}

	mu     sync.Mutex
	chunks [][]byte
	spare  [][]byte
	frames int           // waiting
	taken  chan struct{} // closed by the next Take; nil if nobody wants to know
}

// NewOutbox returns an empty Outbox, for messages of one frame or of several.
func NewOutbox(batch bool) *Outbox {
	return &Outbox{batch: batch, ready: make(chan struct{}, 1)}
}

// Ready receives when there may be messages to take.
func (o *Outbox) Ready() <-chan struct{} { return o.ready }

// Add puts a frame in, see [AppendFrame]. body is not kept.
func (o *Outbox) Add(id uint64, op string, status int, body []byte) {
	o.mu.Lock()
	n := len(o.chunks)
	if n == 0 || !o.batch || len(o.chunks[n-1])+len(body) > chunkSize {
		o.chunks = append(o.chunks, o.emptyLocked())
	} else {
		o.chunks[n-1] = append(o.chunks[n-1], '\n')
	}
	last := &o.chunks[len(o.chunks)-1]
	*last = AppendFrame(*last, id, op, status, body)
	o.frames++
	o.mu.Unlock()
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

func (o *Outbox) emptyLocked() []byte {
	if n := len(o.spare); n > 0 {
		b := o.spare[n-1]
		o.spare = o.spare[:n-1]
		return b
	}
	return make([]byte, 0, 4096)
}

// Room returns nil if fewer than most frames wait, else a channel that is
// closed when some were taken.
func (o *Outbox) Room(most int) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.frames < most {
		return nil
	}
	if o.taken == nil {
		o.taken = make(chan struct{})
	}
	return o.taken
}

// Take returns the messages to write now. Once written they go to [Outbox.Done].
func (o *Outbox) Take() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	chunks := o.chunks
	o.chunks, o.frames = nil, 0
	if o.taken != nil {
		close(o.taken)
		o.taken = nil
	}
	return chunks
}

// Done takes the memory of written messages back.
func (o *Outbox) Done(chunks [][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, b := range chunks {
		if len(o.spare) < 8 && cap(b) <= 2*chunkSize {
			o.spare = append(o.spare, b[:0])
		}
	}
}
