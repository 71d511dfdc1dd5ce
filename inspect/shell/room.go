package shell

// room is where what is needed for one command is kept, and what is needed for
// the next one after it. Whoever takes some gives it back in the end; until then
// it is theirs, whatever the command runs.
type room struct {
	words    stack[word]
	options  stack[found]
	operands stack[int]
	args     stack[Word] // of the commands; never given back
	cells    []cell      // of the word that is being read
	calls    []*call
}

// stack hands out slices, and takes the last ones back.
type stack[T any] struct {
	top   []T // its elements are taken
	grown int // how often there was no room
}

// mark is how much of a stack was taken.
type mark struct{ grown, taken int }

const maxGrowth = 512 // elements

// spare is an empty slice with room for n elements. Whoever keeps it takes it.
func (s *stack[T]) spare(n int) []T {
	if cap(s.top)-len(s.top) < n {
		s.top = make([]T, 0, max(n, min(2*cap(s.top), maxGrowth)))
		s.grown++
	}
	return s.top[len(s.top):]
}

// take keeps a slice from spare, to which elements were appended.
func (s *stack[T]) take(used []T) []T {
	if cap(used) != cap(s.top)-len(s.top) { // there were too many, and it is another one now
		s.top = used
		s.grown++
	} else {
		s.top = s.top[:len(s.top)+len(used)]
	}
	return used[:len(used):len(used)]
}

func (s *stack[T]) mark() mark { return mark{s.grown, len(s.top)} }

// back gives back what was taken since a mark.
func (s *stack[T]) back(to mark) {
	if to.grown != s.grown {
		to.taken = 0
	}
	s.top = s.top[:to.taken]
}

// call is a call to be filled in.
func (m *room) call() *call {
	last := len(m.calls) - 1
	if last < 0 {
		return new(call)
	}
	c := m.calls[last]
	m.calls = m.calls[:last]
	return c
}

// done gives back a call and what was taken for it.
func (m *room) done(c *call, options, operands mark) {
	m.options.back(options)
	m.operands.back(operands)
	m.calls = append(m.calls, c)
}
