package sayso

// PrincipalKind says what a principal may do. Requesters and approvers are
// different kinds, and no principal is both.
type PrincipalKind string

// The kinds of principal.
const (
	PrincipalAgent  PrincipalKind = "agent"  // asks, through a hook or a gateway
	PrincipalTool   PrincipalKind = "tool"   // asks, as an enforcement point inside a program
	PrincipalPerson PrincipalKind = "person" // answers
	PrincipalAdmin  PrincipalKind = "admin"  // answers and administers
	PrincipalViewer PrincipalKind = "viewer" // looks
	PrincipalBroker PrincipalKind = "broker" // sayso itself: policy, time, recovery
)

// Known reports whether k is one of the kinds.
func (k PrincipalKind) Known() bool {
	return k == PrincipalBroker || k.Asks() || k.Looks()
}

// Asks reports whether principals of this kind may make requests.
func (k PrincipalKind) Asks() bool { return k == PrincipalAgent || k == PrincipalTool }

// Answers reports whether principals of this kind may answer requests.
func (k PrincipalKind) Answers() bool { return k == PrincipalPerson || k == PrincipalAdmin }

// Looks reports whether principals of this kind may see requests of others.
func (k PrincipalKind) Looks() bool { return k.Answers() || k == PrincipalViewer }

// Actor is who did something, as what, and through which channel.
type Actor struct {
	Principal string        `json:"principal"`
	Kind      PrincipalKind `json:"kind"`
	Channel   string        `json:"channel,omitempty"` // hook, embedded, socket, http, web, terminal, elicitation

	// Owner and Approvers are the people who may answer for sessions that this
	// requester starts. They come from its credential, never from a request.
	Owner     string   `json:"-"`
	Approvers []string `json:"-"`
	// Origin is the page that the credential is bound to, as scheme://host: it is
	// good for requests to that address alone. Empty for all that are no page's.
	Origin string `json:"-"`
}

// ChannelElicitation is the channel of an answer that came by way of the client
// that made the call. Such a client may have a program answer, and nobody can tell.
const ChannelElicitation = "elicitation"

// ChannelWords are what people are told of a channel.
func ChannelWords(channel string) string {
	if channel == ChannelElicitation {
		return "elicitation: a program may have answered"
	}
	return channel
}

// BrokerActor is sayso itself, acting by policy, by time or after a crash.
var BrokerActor = Actor{Principal: "sayso", Kind: PrincipalBroker, Channel: "broker"}
