package shell

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed synonyms.txt
var synonymTable string

// meanings are the words of a program, or of a subcommand, that mean the same as
// another, by which they are known.
type meanings struct {
	words   map[string]string // operands, and two of them with a blank between
	options map[string]string
}

// synonyms are the meanings by the name of the program, with its subcommand.
var synonyms = sync.OnceValue(func() map[string]*meanings {
	out := map[string]*meanings{}
	var names []string
	for line := range strings.Lines(synonymTable) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			names = strings.Split(line, ", ")
			for _, name := range names {
				out[name] = &meanings{words: map[string]string{}, options: map[string]string{}}
			}
		default:
			word, others, _ := strings.Cut(strings.TrimSpace(line), ": ")
			for _, name := range names {
				out[name].add(word, strings.Split(others, ", "))
			}
		}
	}
	return out
})

func (m *meanings) add(word string, others []string) {
	for _, other := range others {
		if dashed(other) {
			m.options[other] = word
		} else {
			m.words[other] = word
		}
	}
}

// option is the option that stands for another: by its name, with the value that
// it must have if there is one, by what its name begins with, or letter by letter.
func (m *meanings) option(text string) string {
	if !dashed(text) {
		return text
	}
	name, value, attached := strings.Cut(text, "=")
	stands := m.options[name]
	if stands == "" && strings.HasPrefix(name, "--") && len(name) > 2 {
		for long, word := range m.options {
			long, only, valued := strings.Cut(long, "=")
			if !strings.HasPrefix(long, name) || valued && only != value {
				continue
			}
			if valued {
				return word
			}
			if stands == "" || word < stands {
				stands = word
			}
		}
	}
	switch {
	case stands != "" && attached:
		return stands + "=" + value
	case stands != "":
		return stands
	case text[1] == '-' || len(text) > maxCluster:
		return text
	}
	return m.letters(text)
}

// letters is a cluster of options with the letters that stand for others.
func (m *meanings) letters(cluster string) string {
	var b strings.Builder
	b.WriteByte('-')
	for i := 1; i < len(cluster); i++ {
		if word := m.options["-"+cluster[i:i+1]]; word != "" && word[1] != '-' {
			b.WriteString(word[1:])
		} else {
			b.WriteByte(cluster[i])
		}
	}
	return b.String()
}
