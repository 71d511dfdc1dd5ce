// Package traffic replays recorded sessions of agents through the preset
// `developer` and a real broker, and counts what people are asked: a session of
// honest work must be quiet, and of a session of attacks nothing may pass.
//
//	go test ./lab/traffic -v
//	go test ./lab/traffic -v -session other.jsonl
//
// Facts are gathered for real, in a workspace that grows as the session writes
// files. Each prompt is answered once, by a person who remembers the yes for the
// session where that is offered.
package traffic
