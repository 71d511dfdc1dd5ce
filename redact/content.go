package redact

// contentWords end the names of what a call puts into a file, and begin those of
// its presentation.
var contentWords = set(`content contents string str text patch diff presentation`)

func contentName(name string) bool {
	ws := words(name)
	return len(ws) > 0 && !isCommandName(name) && (contentWords[ws[len(ws)-1]] || ws[0] == "presentation")
}

// reading searches what stands under a name. What is found in the content of a file
// is remembered as that.
func (f *finder) reading(name string, search func()) {
	learn := f.learn
	if f.reads != nil && contentName(name) {
		f.learn = f.reads
	}
	search()
	f.learn = learn
}

// workWords end the names of what says where a call works, and who makes it.
var workWords = set(`path paths file filename dir directory cwd folder workdir caller tool server`)

// isPlaceName reports whether a text of this name says where a call works, or who
// makes it.
func isPlaceName(name string) bool {
	ws := words(name)
	return len(ws) > 0 && workWords[ws[len(ws)-1]]
}
