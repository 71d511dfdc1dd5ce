package sayso

// Redaction says that a value was hidden, under which key, and how long it was.
type Redaction struct {
	Path   string `json:"path"`   // JSON pointer into the arguments, or the name of another text: said/description
	Key    string `json:"key"`    // the name it was hidden under
	Length int    `json:"length"` // of the hidden value, in bytes
}

// WarningKind says what a person should look out for in what they are shown.
type WarningKind string

// The kinds of warning.
const (
	WarnControl    WarningKind = "control"
	WarnBidi       WarningKind = "bidi"
	WarnInvisible  WarningKind = "invisible"
	WarnConfusable WarningKind = "confusable"
	WarnWhitespace WarningKind = "whitespace"
	WarnPadding    WarningKind = "padding"
	WarnTruncated  WarningKind = "truncated"
	WarnMarkup     WarningKind = "markup"
)

// Warning is one thing to look out for, and where.
type Warning struct {
	Kind WarningKind `json:"kind"`
	Path string      `json:"path"`           // JSON pointer into the arguments, or the name of another text: said/description
	Text string      `json:"text,omitempty"` // what it really says, where that helps
}

// PresentationType says how a presentation is to be drawn.
type PresentationType string

// The five ways to show a call.
const (
	PresentText        PresentationType = "text"
	PresentDiff        PresentationType = "diff"
	PresentFileContent PresentationType = "file_content"
	PresentCommand     PresentationType = "command"
	PresentStructured  PresentationType = "structured"
)

// Presentation is what a person is shown beside the arguments. Its texts are
// raw until the broker has hidden and made safe what is in them.
type Presentation struct {
	Type     PresentationType  `json:"type"`
	Content  string            `json:"content"`
	Language string            `json:"language,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	// Marks say what parts of the content are, in their order.
	Marks []Mark `json:"marks,omitempty"`
}

// Mark says what a part of a presentation's content is. One that begins and ends
// at 0 speaks of something whose place is not known, because it was hidden or
// left out.
type Mark struct {
	From int      `json:"from"` // in bytes of the content
	To   int      `json:"to"`   // behind its last byte
	Kind MarkKind `json:"kind"`
	Text string   `json:"text,omitempty"` // what there is to say of it
}

// MarkKind says what a part of a command line is.
type MarkKind string

// The kinds of marks.
const (
	MarkProgram    MarkKind = "program"    // what runs
	MarkWrapper    MarkKind = "wrapper"    // what runs another command: sudo, env, xargs
	MarkInline     MarkKind = "inline"     // a text that is run as a program
	MarkDynamic    MarkKind = "dynamic"    // known only when it runs
	MarkWrite      MarkKind = "write"      // of a file
	MarkRead       MarkKind = "read"       // of a file, by redirection
	MarkDelete     MarkKind = "delete"     // of what it names
	MarkNetwork    MarkKind = "network"    // talks to another machine
	MarkPrivilege  MarkKind = "privilege"  // becomes another user
	MarkAssignment MarkKind = "assignment" // of a variable
	MarkOption     MarkKind = "option"     // makes a program do more than its name says
	MarkProblem    MarkKind = "problem"    // was not understood, and why
)

// Token is a run of text of one class: code, coloured.
type Token struct {
	Class Class  `json:"class,omitempty"`
	Text  string `json:"text"`
}

// Class says what a run of code is. The zero Class is plain text.
type Class string

// The classes of tokens.
const (
	ClassKeyword   Class = "keyword"
	ClassType      Class = "type"
	ClassFunction  Class = "function"
	ClassName      Class = "name" // of something built in
	ClassVariable  Class = "variable"
	ClassAttribute Class = "attribute"
	ClassTag       Class = "tag"
	ClassString    Class = "string"
	ClassNumber    Class = "number"
	ClassComment   Class = "comment"
	ClassOperator  Class = "operator"
	ClassHeading   Class = "heading"
	ClassAdded     Class = "added"   // a line of a difference
	ClassRemoved   Class = "removed" // a line of a difference
	ClassPlace     Class = "place"   // where in a file a part of a difference stands
)
