package gateway

import "testing"

// Whoever asks is answered under the id that it gave: what no answer can have is none.
func TestReadMessage_id(t *testing.T) {
	for id, good := range map[string]bool{
		`1`: true, `-0.0e5`: true, `"1"`: true, `"\u00e9"`: true, `""`: true,
		`null`: false, `{}`: false, `[1]`: false, `true`: false, "\"\x80\"": false, `"\ud800"`: false,
	} {
		if _, err := readMessage([]byte(`{"id":` + id + `,"method":"x"}`)); (err == nil) != good {
			t.Errorf("%s: %v", id, err)
		}
	}
}
