package sayso

// Kind says what sort of call a call is.
type Kind string

// The kinds. The zero Kind is unknown and is treated as KindOther.
const (
	KindShell    Kind = "shell"
	KindRead     Kind = "read"
	KindWrite    Kind = "write"
	KindEdit     Kind = "edit"
	KindDelete   Kind = "delete"
	KindList     Kind = "list"
	KindFetch    Kind = "fetch"
	KindSearch   Kind = "search"
	KindDelegate Kind = "delegate"
	KindMCP      Kind = "mcp"
	KindOther    Kind = "other"
)

// kindStrictness orders the kinds by what a mistake may cost.
var kindStrictness = map[Kind]int{
	KindRead: 0, KindList: 0, KindSearch: 0,
	KindFetch: 1, KindWrite: 1, KindEdit: 1, KindMCP: 1, KindOther: 1,
	KindDelete: 2, KindDelegate: 3, KindShell: 4,
}

// Known reports whether k is one of the kinds.
func (k Kind) Known() bool { _, ok := kindStrictness[k]; return ok }

// Stricter returns the kind that counts when the table says k and the caller
// says claimed: a caller can only make it stricter.
func (k Kind) Stricter(claimed Kind) Kind {
	if !k.Known() {
		k = KindOther
	}
	if claimed.Known() && kindStrictness[claimed] > kindStrictness[k] {
		return claimed
	}
	return k
}

// Risk is the risk of a kind before anything else is known about the call.
func (k Kind) Risk() Risk {
	switch k {
	case KindRead, KindList, KindSearch:
		return RiskSafe
	case KindShell, KindDelegate:
		return RiskDestructive
	}
	return RiskModerate
}

// ReadOnly reports whether calls of this kind change nothing.
func (k Kind) ReadOnly() bool { return k.Risk() == RiskSafe }
