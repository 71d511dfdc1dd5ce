package tool

import "github.com/sayso-dev/sayso"

// Tools implements [Describer].
func (f *Files) Tools() []Definition {
	return []Definition{
		{ReadFile, "Read a text file, or some of its lines.", sayso.KindRead,
			schema(`"path":`+pathProperty+`,"offset":{"type":"integer","minimum":1,"description":"The number of the first line."},"limit":{"type":"integer","minimum":1,"description":"How many lines."}`, `"path"`)},
		{WriteFile, "Write a whole file: a new one, or in the place of what is there.", sayso.KindWrite,
			schema(`"path":`+pathProperty+`,"content":{"type":"string","description":"All that is to be in the file."}`, `"path","content"`)},
		{EditFile, "Replace a text in a file by another. It must be there exactly once, unless replace_all is set.", sayso.KindEdit,
			schema(`"path":`+pathProperty+`,"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"}`, `"path","old_string","new_string"`)},
		{ListFiles, "List the names in a folder; folders end in a slash.", sayso.KindList,
			schema(`"path":`+pathProperty, ``)},
		{DeleteFile, "Delete a file.", sayso.KindDelete,
			schema(`"path":`+pathProperty, `"path"`)},
		{MoveFile, "Move a file to a name that nothing has yet.", sayso.KindDelete,
			schema(`"from":`+pathProperty+`,"to":`+pathProperty, `"from","to"`)},
	}
}

const pathProperty = `{"type":"string","description":"A path, relative to the working directory or absolute."}`

// schema is the JSON Schema of an object that has no other members.
func schema(properties, required string) sayso.Args {
	return sayso.Args(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`)
}
