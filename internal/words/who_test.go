package words

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

// What came by way of a client is told as what a program may have said.
func TestWho(t *testing.T) {
	at := func(channel string) string {
		return Standing(sayso.Decision{State: sayso.StateAllowed, By: []sayso.Actor{{Principal: "ada", Channel: channel}}})
	}
	if got := at("terminal"); !strings.HasSuffix(got, "allowed by ada") {
		t.Error(got)
	}
	if got := at(sayso.ChannelElicitation); !strings.HasSuffix(got, "allowed by ada (elicitation: a program may have answered)") {
		t.Error(got)
	}
	e := sayso.Event{Type: sayso.EventAnswered, Actor: sayso.Actor{Principal: "ada", Channel: sayso.ChannelElicitation}, Payload: []byte(`{"effect":"allow"}`)}
	if got := (Teller{}).Story(e); !strings.Contains(got, "by ada (elicitation: a program may have answered)") {
		t.Error(got)
	}
	e.Type = sayso.EventAnswerRefused
	if got := (Teller{}).Story(e); !strings.Contains(got, "from ada (elicitation: a program may have answered):") {
		t.Error(got)
	}
	for channel, want := range map[string]string{"terminal": "by ada (person)", sayso.ChannelElicitation: "by ada (elicitation: a program may have answered)"} {
		e := sayso.Event{Type: sayso.EventResolved, Payload: []byte(`{"effect":"allow","source":"person","by":[{"principal":"ada","kind":"person","channel":"` + channel + `"}]}`)}
		if got := (Teller{}).Story(e); !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
