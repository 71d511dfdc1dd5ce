package race_test

import (
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"
)

// asked is what somebody does to a request.
type asked struct {
	Op    string // answer, read, wait, redeem, withdraw or expire
	Who   string // who answers
	Phase string // what the answer would make of the request
}

// told is what somebody was told. A redemption in doubt was tried twice, since
// nobody knows what became of the first try.
type told struct {
	Phase string // of the request, as far as it was told
	Who   string // who decided
	Doubt bool
}

// The phases of a request, and the ends of an approval.
const (
	isOpen      = ""
	isAllowed   = "allowed"
	isDenied    = "denied"
	isExpired   = "expired"
	isWithdrawn = "withdrawn"
	isSpent     = "spent" // told of an approval; also that this redemption is the one
	isVoid      = "void"
	isMine      = "mine" // the redemption succeeded
)

// register is a request as a sequential object: it is decided once, and its
// approval is spent or made void, once.
type register struct {
	phase, who   string
	spent, voids bool
}

// request is the model that histories are checked against.
var request = porcupine.Model{
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		next, ok := state.(register).step(input.(asked), output.(told))
		return ok, next
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%v -> %v", in, out) },
}

func (r register) step(in asked, out told) (register, bool) {
	switch in.Op {
	case "answer":
		if r.phase == isOpen {
			r.phase, r.who = in.Phase, in.Who
		}
		return r, out.Phase == r.phase && out.Who == r.decider()
	case "expire":
		if r.phase == isOpen {
			r.phase = isExpired
		}
		return r, r.phase == isExpired
	case "read":
		// A request whose time is over is shown as expired before that is recorded.
		early := r.phase == isOpen && out.Phase == isExpired
		return r, early || out.Phase == r.phase && out.Who == r.decider()
	case "wait":
		return r, r.delivered(out)
	case "redeem":
		return r.redeem(out)
	case "withdraw":
		return r.withdraw(out)
	}
	return r, false
}

func (r register) decider() string {
	if r.phase == isAllowed || r.phase == isDenied {
		return r.who
	}
	return ""
}

// end is what whoever uses an approval is told of it.
func (r register) end() string {
	switch {
	case r.phase == isAllowed && r.spent:
		return isSpent
	case r.phase == isAllowed && r.voids:
		return isVoid
	}
	return r.phase
}

// delivered reports whether a caller that waited may be told this.
func (r register) delivered(out told) bool {
	return out.Phase != isOpen && out.Phase == r.end() && (out.Phase != isAllowed && out.Phase != isDenied || out.Who == r.who)
}

func (r register) redeem(out told) (register, bool) {
	live := r.end() == isAllowed
	if out.Phase == isMine || out.Doubt && out.Phase == isSpent && live {
		r.spent = true
		return r, live
	}
	return r, out.Phase == r.end() && !live
}

func (r register) withdraw(out told) (register, bool) {
	switch r.end() {
	case isOpen:
		r.phase = isWithdrawn
	case isAllowed:
		r.voids = true
	case isWithdrawn, isVoid:
	default:
		return r, out.Phase == r.end()
	}
	return r, out.Phase == isMine
}

// Histories of gates that are broken in one way each do not pass.
func TestModel_canFail(t *testing.T) {
	op := func(in asked, out told, from, to int64) porcupine.Operation {
		return porcupine.Operation{Input: in, Output: out, Call: from, Return: to}
	}
	ann, bob := asked{"answer", "ann", isAllowed}, asked{"answer", "bob", isDenied}
	byAnn, byBob := told{Phase: isAllowed, Who: "ann"}, told{Phase: isDenied, Who: "bob"}
	read, wait, redeem, withdraw, expire := asked{Op: "read"}, asked{Op: "wait"}, asked{Op: "redeem"}, asked{Op: "withdraw"}, asked{Op: "expire"}
	mine, spent := told{Phase: isMine}, told{Phase: isSpent}
	for name, ops := range map[string][]porcupine.Operation{
		"two winners":                 {op(ann, byAnn, 0, 10), op(bob, byBob, 0, 10)},
		"the last wins":               {op(ann, byBob, 0, 10), op(bob, byBob, 20, 30)},
		"a read that is behind":       {op(ann, byAnn, 0, 10), op(read, told{}, 20, 30)},
		"an answer that was lost":     {op(ann, byAnn, 0, 10), op(bob, byBob, 20, 30), op(read, byBob, 40, 50)},
		"two redemptions":             {op(ann, byAnn, 0, 10), op(redeem, mine, 20, 30), op(redeem, mine, 20, 30)},
		"a redemption of a no":        {op(bob, byBob, 0, 10), op(redeem, mine, 20, 30)},
		"a redemption before the yes": {op(redeem, mine, 0, 10), op(ann, byAnn, 20, 30)},
		"spent by nobody":             {op(ann, byAnn, 0, 10), op(redeem, spent, 20, 30), op(withdraw, mine, 40, 50)},
		"withdrawn and redeemed":      {op(ann, byAnn, 0, 10), op(withdraw, mine, 20, 30), op(redeem, mine, 40, 50)},
		"withdrawn and answered":      {op(withdraw, mine, 0, 10), op(ann, byAnn, 20, 30)},
		"expired and answered":        {op(expire, told{}, 0, 10), op(ann, byAnn, 20, 30)},
		"a waiter told another":       {op(ann, byAnn, 0, 10), op(bob, byAnn, 0, 10), op(wait, byBob, 0, 50)},
		"a waiter told nothing":       {op(ann, byAnn, 0, 10), op(wait, told{}, 0, 50)},
	} {
		if porcupine.CheckOperations(request, ops) {
			t.Errorf("%s: passes", name)
		}
	}
	good := []porcupine.Operation{
		op(ann, byAnn, 0, 10), op(bob, byAnn, 0, 10), op(read, told{}, 0, 10), op(wait, byAnn, 0, 20), op(redeem, told{}, 0, 5),
		op(redeem, mine, 12, 30), op(redeem, spent, 12, 40), op(withdraw, spent, 35, 50),
	}
	if !porcupine.CheckOperations(request, good) {
		t.Error("a good history does not pass")
	}
	doubtful := []porcupine.Operation{op(ann, byAnn, 0, 10), op(redeem, told{Phase: isSpent, Doubt: true}, 20, 30), op(redeem, spent, 40, 50)}
	if !porcupine.CheckOperations(request, doubtful) {
		t.Error("a redemption whose first try was not heard of does not pass")
	}
}
