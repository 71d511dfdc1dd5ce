package sayso

// EachTool yields every tool of every table: the host, empty for our own
// names, the name by which it is called there, and what is known of it. Tools
// come in no particular order.
func EachTool(yield func(host, name string, t Tool) bool) {
	for name, t := range canonicalTools {
		if !yield("", name, t) {
			return
		}
	}
	for name, canonical := range ownTools {
		if !yield("", name, canonicalTools[canonical]) {
			return
		}
	}
	for host, tools := range hostTools {
		for name, t := range tools {
			if !yield(host, name, t) {
				return
			}
		}
	}
}
