package present

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"github.com/sayso-dev/sayso"
)

// File presents the content that a file is to have. Of what is not text only
// type and size are shown.
func File(name, content string) sayso.Presentation {
	p := sayso.Presentation{Type: sayso.PresentFileContent, Metadata: map[string]string{"path": name, "size": size(len(content))}}
	if isBinary(content) {
		p.Content = binary(content)
		return p
	}
	p.Content, p.Language = content, language(name)
	p.Metadata["lines"] = strconv.Itoa(countLines(content))
	return bounded(p)
}

// sniffed is how much of a file is looked at to tell what it is.
const sniffed = 8192

// isBinary reports whether s is no text: much of its beginning is no text of
// any kind, or it begins as a known kind of binary file does and is no clean
// UTF-8. One stray byte does not make a binary file of a script: what could be
// read is never told by type and size alone.
func isBinary(s string) bool {
	head := s[:min(len(s), sniffed)]
	stray := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRuneInString(head[i:])
		switch {
		case r == utf8.RuneError && n == 1 && (i+utf8.UTFMax <= len(head) || len(head) == len(s)),
			r < ' ' && strings.IndexByte("\t\n\r\f\x1b", byte(r)) < 0, r == 0x7f:
			stray++
		}
		i += n
	}
	switch {
	case stray == 0:
		return false
	case stray > 1+len(head)/10:
		return true
	}
	m := mimetype.Detect([]byte(head))
	return !isText(m) && !m.Is(anyBytes)
}

const anyBytes = "application/octet-stream"

// isText walks the parents of a type: JSON, scripts and pages are text.
func isText(m *mimetype.MIME) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return false
}

// binary tells of a file by type and size.
func binary(s string) string {
	return fmt.Sprintf("Binary file: %s (%s)", fileType(s), size(len(s)))
}

// fileType returns the media type of a file by how it begins, never by its
// name: the name is the agent's.
func fileType(s string) string {
	if !isBinary(s) {
		return "text/plain"
	}
	m := mimetype.Detect([]byte(s[:min(len(s), sniffed)]))
	kind, charset, _ := strings.Cut(m.String(), ";")
	switch {
	case !isText(m):
		return kind
	case strings.Contains(charset, "utf-16"), strings.Contains(charset, "utf-32"):
		return m.String()
	}
	return anyBytes
}

// size writes a number of bytes for people.
func size(n int) string {
	if n < 1000 {
		return strconv.Itoa(n) + " B"
	}
	f, unit := float64(n)/1000, "KB"
	for _, next := range []string{"MB", "GB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, next
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + unit
}

// languages are the names that highlighters know languages by, per ending.
var languages = map[string]string{
	".go": "go", ".py": "python", ".js": "javascript", ".mjs": "javascript", ".ts": "typescript", ".tsx": "tsx", ".jsx": "jsx",
	".rs": "rust", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".java": "java", ".kt": "kotlin",
	".rb": "ruby", ".php": "php", ".sh": "bash", ".bash": "bash", ".zsh": "bash", ".sql": "sql", ".json": "json",
	".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".md": "markdown", ".html": "html", ".css": "css", ".svelte": "svelte",
	".vue": "vue", ".xml": "xml", ".tf": "hcl", ".lua": "lua", ".swift": "swift", ".cs": "csharp", ".proto": "protobuf",
	".ps1": "powershell", ".ini": "ini", ".cfg": "ini", ".diff": "diff", ".patch": "diff", ".scss": "scss", ".ipynb": "json",
}

// language returns the language of a file by its name, or nothing.
func language(name string) string {
	switch strings.ToLower(path.Base(name)) {
	case "dockerfile":
		return "docker"
	case "makefile":
		return "make"
	}
	return languages[strings.ToLower(path.Ext(name))]
}
