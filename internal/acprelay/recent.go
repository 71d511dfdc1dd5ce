package acprelay

// recent keeps a number of things by name, and forgets the oldest. The zero recent keeps
// nothing.
type recent[V any] struct {
	limit int
	by    map[string]V
	order []string // the oldest first
}

func newRecent[V any](most int) *recent[V] { return &recent[V]{limit: most, by: map[string]V{}} }

// put keeps one thing, in the place of another of its name.
func (l *recent[V]) put(name string, v V) {
	if _, known := l.by[name]; !known {
		if len(l.order) >= l.limit {
			l.take(l.order[0])
		}
		l.order = append(l.order, name)
	}
	l.by[name] = v
}

// get is the thing of a name.
func (l *recent[V]) get(name string) (V, bool) {
	v, ok := l.by[name]
	return v, ok
}

// take is get, and forgets it.
func (l *recent[V]) take(name string) (V, bool) {
	v, ok := l.by[name]
	if !ok {
		return v, false
	}
	delete(l.by, name)
	for i, n := range l.order {
		if n == name {
			l.order = append(l.order[:i], l.order[i+1:]...)
			break
		}
	}
	return v, true
}
