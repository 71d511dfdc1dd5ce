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

// Presentation is what a person is shown beside the arguments.
type Presentation struct {
	Type     PresentationType  `json:"type"`
	Content  string            `json:"content"`
	Language string            `json:"language,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}
