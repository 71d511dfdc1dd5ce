package present

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/sayso-dev/sayso"
)

// PlainText presents a message.
func PlainText(s string) sayso.Presentation {
	return sayso.Presentation{Type: sayso.PresentText, Content: s}
}

// Command presents a command line and the directory it would run in.
func Command(cmd, cwd string) sayso.Presentation {
	p := sayso.Presentation{Type: sayso.PresentCommand, Content: cmd, Language: "bash"}
	if cwd != "" {
		p.Metadata = map[string]string{"cwd": cwd}
	}
	return p
}

// Structured presents a JSON value, indented. What is not JSON is shown as it
// is.
func Structured(raw []byte) sayso.Presentation {
	return sayso.Presentation{Type: sayso.PresentStructured, Content: indented(raw), Language: "json"}
}

// File presents the content that a file is to have. Of what is not text only
// type and size are shown.
func File(name, content string) sayso.Presentation {
	p := sayso.Presentation{Type: sayso.PresentFileContent, Metadata: map[string]string{"path": name, "size": strconv.Itoa(len(content))}}
	if isBinary(content) {
		p.Content = binary(name, content)
		return p
	}
	p.Content, p.Language = content, language(name)
	p.Metadata["lines"] = strconv.Itoa(countLines(content))
	return p
}

// diffTime bounds how long the shortest edit is looked for. Within it, most
// differences are the shortest; after it, they are right but longer, so the
// text of a difference may vary from run to run.
const diffTime = 200 * time.Millisecond

// Diff presents the change of a file as a unified difference of its lines. An
// empty old text means a new file, an empty new one that it is emptied.
func Diff(name, old, text string) sayso.Presentation {
	p := sayso.Presentation{Type: sayso.PresentDiff, Language: "diff", Metadata: map[string]string{"path": name}}
	switch {
	case old == text:
		p.Type, p.Language, p.Content = sayso.PresentText, "", "no change"
		return p
	case isBinary(old) || isBinary(text):
		p.Type, p.Language = sayso.PresentText, ""
		p.Content = "from " + binary(name, old) + "\nto " + binary(name, text)
		return p
	}
	edits, added, removed := lineEdits(old, text)
	content, err := udiff.ToUnified("a/"+name, "b/"+name, old, edits, udiff.DefaultContextLines)
	if err != nil { // the edits are in order and within old, so this is not reached
		content = text
	}
	p.Content = content
	p.Metadata["added"], p.Metadata["removed"] = strconv.Itoa(added), strconv.Itoa(removed)
	return p
}

// lineEdits returns the changed lines as edits of old, and how many were added
// and removed.
func lineEdits(old, text string) (edits []udiff.Edit, added, removed int) {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = diffTime
	a, b, lines := dmp.DiffLinesToRunes(old, text)
	at := 0
	for _, d := range dmp.DiffCharsToLines(dmp.DiffMainRunes(a, b, false), lines) {
		switch d.Type {
		case diffmatchpatch.DiffEqual:
			at += len(d.Text)
		case diffmatchpatch.DiffDelete:
			removed += countLines(d.Text)
			edits = append(edits, udiff.Edit{Start: at, End: at + len(d.Text)})
			at += len(d.Text)
		case diffmatchpatch.DiffInsert:
			added += countLines(d.Text)
			if n := len(edits); n > 0 && edits[n-1].End == at {
				edits[n-1].New += d.Text // lines taken out and put in at one place are one edit
				continue
			}
			edits = append(edits, udiff.Edit{Start: at, End: at, New: d.Text})
		}
	}
	return edits, added, removed
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// isBinary reports whether s is no text: it holds a zero byte, or much of its
// beginning is not UTF-8.
func isBinary(s string) bool {
	head := s[:min(len(s), 8192)]
	if strings.IndexByte(head, 0) >= 0 {
		return true
	}
	bad := 0
	for _, r := range head {
		if r == utf8.RuneError {
			bad++
		}
	}
	return bad > 1+len(head)/10
}

// binary tells of a binary file by type and size.
func binary(name, s string) string {
	return fmt.Sprintf("Binary file: %s (%s)", fileType(name, s), size(len(s)))
}

// signatures are how binary files of known types begin.
var signatures = []struct{ prefix, kind string }{
	{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"}, {"BM", "image/bmp"},
	{"%PDF-", "application/pdf"}, {"PK\x03\x04", "application/zip"}, {"\x1f\x8b", "application/gzip"}, {"BZh", "application/x-bzip2"},
	{"\xfd7zXZ\x00", "application/x-xz"}, {"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"}, {"\x28\xb5\x2f\xfd", "application/zstd"},
	{"\x7fELF", "application/x-elf"}, {"MZ", "application/x-msdownload"}, {"\xcf\xfa\xed\xfe", "application/x-mach-binary"},
	{"\x00asm", "application/wasm"}, {"SQLite format 3\x00", "application/vnd.sqlite3"}, {"OggS", "application/ogg"}, {"ID3", "audio/mpeg"},
	{"wOFF", "font/woff"}, {"wOF2", "font/woff2"}, {"\x00\x01\x00\x00", "font/ttf"}, {"\x00\x00\x01\x00", "image/x-icon"},
	{"\xca\xfe\xba\xbe", "application/java-vm"},
}

// fileType returns the media type of a file by how it begins. This is a hint
// for a reader, so no table of the machine is asked.
func fileType(name, s string) string {
	if !isBinary(s) {
		return "text/plain"
	}
	for _, sig := range signatures {
		if strings.HasPrefix(s, sig.prefix) {
			return sig.kind
		}
	}
	if strings.HasPrefix(s, "RIFF") && len(s) > 12 {
		switch s[8:12] {
		case "WEBP":
			return "image/webp"
		case "WAVE":
			return "audio/wav"
		}
	}
	if len(s) > 12 && s[4:8] == "ftyp" {
		return "video/mp4"
	}
	if path.Ext(name) == ".pdf" {
		return "application/pdf"
	}
	return "application/octet-stream"
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

// Excerpt shortens a presentation to at most the given number of lines: its
// first lines, its last, and between them how many were left out. The whole is
// kept under full_content in the metadata.
func Excerpt(p sayso.Presentation, lines int) sayso.Presentation {
	all := strings.Split(p.Content, "\n")
	if len(all) <= lines || lines < 3 {
		return p
	}
	tail := (lines - 1) / 4
	head := lines - 1 - tail
	short := append([]string{}, all[:head]...)
	short = append(short, fmt.Sprintf("... [%d more lines]", len(all)-head-tail))
	short = append(short, all[len(all)-tail:]...)
	meta := map[string]string{"full_content": p.Content}
	for k, v := range p.Metadata {
		meta[k] = v
	}
	p.Content, p.Metadata = strings.Join(short, "\n"), meta
	return p
}
