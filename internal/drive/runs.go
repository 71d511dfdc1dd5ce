package drive

import "github.com/sayso-dev/sayso"

// maxRuns is of how many calls that were allowed it is remembered for certain that
// they have not ended. Some hosts tell of no end, and none of every one.
const maxRuns = 2048

// run is what a call is known by when it has ended: sessions count their calls for
// themselves.
type run struct{ session, call string }

func runOf(c sayso.Call) run { return run{c.Session, c.CallID} }

// runs are the requests whose calls were allowed and have not ended: as many as may be
// remembered, and those before them. What is forgotten stays in the log as a call of
// which the outcome is unknown. The zero runs are empty.
type runs struct{ newer, older map[run]sayso.ID }

// add takes down that a call runs.
func (r *runs) add(k run, id sayso.ID) {
	r.drop(k)
	if r.newer == nil || len(r.newer) == maxRuns {
		r.newer, r.older = map[run]sayso.ID{}, r.newer
	}
	r.newer[k] = id
}

// of is the request of a call that runs; empty for none.
func (r *runs) of(k run) sayso.ID {
	if id := r.newer[k]; id != "" {
		return id
	}
	return r.older[k]
}

// drop forgets a call that does not run any more.
func (r *runs) drop(k run) {
	delete(r.newer, k)
	delete(r.older, k)
}
