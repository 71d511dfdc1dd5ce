package shell

// Direction is what a redirection does.
type Direction string

// The directions.
const (
	Read      Direction = "read"      // from a file
	Write     Direction = "write"     // to a file, which may be created or emptied
	Null      Direction = "null"      // from or to the null device, or the standard streams by name
	Duplicate Direction = "duplicate" // of a descriptor, or its closing
	Network   Direction = "network"   // /dev/tcp, /dev/udp
	Body      Direction = "body"      // a here-document or here-string
)

// Redirect is one redirection.
type Redirect struct {
	Span   Span
	Op     string // as written, without the descriptor: > >> >| < <> &> <<< …
	Target Word   // file, descriptor, or what a body says as far as it is known
	Kind   Direction
	// Command is the index in Line.Commands of the command whose streams it
	// changes, -1 if those of a group or of the shell.
	Command int
	Dirs    []Dir // see Command.Dirs
}
