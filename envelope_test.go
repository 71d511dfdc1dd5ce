package sayso

import (
	"testing"
	"time"
)

// What is written member by member is what is written by the type, byte for byte.
func FuzzEvent_envelope(f *testing.F) {
	f.Add("request/01", "ann", "", `{"a":[1,2.50,"x\u0041\n"]}`, uint64(7), int64(1_700_000_000_123_456_789), 3, true)
	f.Add("broker", "sayso", "broker", `{ "b" : {} , "a" : null }`, uint64(1<<63), int64(0), -1, false)
	f.Add("session/é\"\\\x01", "\xff", "web", ``, uint64(0), int64(-62_135_596_800_000_000), 0, true)
	f.Add("s", "p", "<&>\u2028\x7f", `{"a":1,"a":2}`, uint64(1), int64(253_402_300_799_000_000), 1, true)
	f.Add("s", "p", "c", `{"n":1e400,"m":-0,"s":"\ud800"}`, uint64(1), int64(1), 1, true)
	f.Add("s", "p", "c", `[`, uint64(1), int64(1), 1, true)
	f.Fuzz(func(t *testing.T, stream, principal, channel, payload string, seq uint64, micros int64, n int, digests bool) {
		e := Event{
			Seq: Seq(seq), ID: ID(principal), Stream: stream, Pos: n, Type: EventType(stream), Version: -n,
			At:    Moment{Wall: time.UnixMicro(micros), Boot: channel, Since: time.Duration(micros)},
			Actor: Actor{Principal: principal, Kind: PrincipalKind(stream), Channel: channel}, SessionID: stream, RunID: channel,
			RequestID: ID(stream), CallID: payload, Payload: Args(payload),
		}
		if digests {
			e.Commitment, e.Prev, e.Hash = HashOf(stream), HashOf(principal), HashOf(payload)
		}
		want, err := e.marshal()
		got, ok := e.envelope()
		if ok && (err != nil || string(got) != string(want)) {
			t.Errorf("wrote  %s\nwanted %s, %v", got, want, err)
		}
		if !ok && err == nil && payload != "" && e.At.Wall.UTC().Year() >= 0 {
			t.Errorf("did not write %s", want)
		}
	})
}

func BenchmarkEvent_MarshalJSON(b *testing.B) {
	e := Event{
		Seq: 123456, ID: "01m7wyf0nnpx5134avv40bmx4g3chvqgbe01", Stream: "request/01m7wyf0nnpx5134avv40bmx4g3chvqgbe01", Pos: 1,
		Type: EventRequested, Version: 1, At: Moment{Wall: time.Unix(1_700_000_000, 123_000_000), Boot: "b", Since: 5},
		Actor: Actor{Principal: "ann", Kind: PrincipalPerson, Channel: "web"}, SessionID: "s", RequestID: "01m7wyf0nnpx5134avv40bmx4g3chvqgbe01",
		Payload: Args(`{"tool":"bash","preview":{"command":"git push"},"redactions":[],"warnings":[],"covers":[]}`), Hash: HashOf("x"),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
}
