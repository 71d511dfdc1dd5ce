package redact

// Looked returns how many bytes are looked at to tell what stands between the
// brackets of s, a text of any kind.
func Looked(s string) int {
	f := &finder{names: newNames(nil), learn: func(string, string) {}}
	r := &reader{f: f, s: s, h: func(int, int, int, string) {}}
	r.run()
	return r.brackets.looked
}
