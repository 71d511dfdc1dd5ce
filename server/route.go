package server

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/sayso-dev/sayso"
)

// who is a set of those who may use a route.
type who uint16

const (
	agents who = 1 << iota
	tools
	people
	admins
	viewers
	anyone // no token needed
	local  // no token needed on this machine

	askers   = agents | tools
	deciders = people | admins
	lookers  = deciders | viewers
	everyone = askers | lookers
)

var kinds = map[sayso.PrincipalKind]who{
	sayso.PrincipalAgent: agents, sayso.PrincipalTool: tools, sayso.PrincipalPerson: people,
	sayso.PrincipalAdmin: admins, sayso.PrincipalViewer: viewers,
}

// may reports whether a kind of principal is in the set.
func (w who) may(k sayso.PrincipalKind) bool { return w&kinds[k] != 0 }

// route is one way to call the server.
type route struct {
	method, pattern string
	who             who
	// serve returns the body of a success, nil for none, or errServed if it has
	// answered itself.
	serve func(*Server, *exchange) (any, error)
	limit int64 // of the body in bytes; zero for small
	// needs tells whether the options offer the route; nil for always.
	needs func(*Options) bool

	// What follows is for the document.
	op      string // on a WebSocket; empty for none
	summary string
	in      reflect.Type // of the body; nil for none
	query   []param
	out     map[int]reflect.Type // by status; a nil type has no body
	fails   []int                // statuses beside those that every route has
}

// param is one parameter of an address.
type param struct {
	name, about string
	kind        string // string, integer, boolean or list
}

// Limits of bodies, in bytes.
const (
	small  = 64 << 10
	medium = 1 << 20
	large  = sayso.MaxCall + 2<<20 // a call with its facts
)

// node is one place in the tree of paths.
type node struct {
	next    map[string]*node
	any     *node // for a segment that is a value
	methods map[string]*route
}

// plant makes the tree of routes.
func plant(routes []route) *node {
	root := &node{}
	for i := range routes {
		n := root
		for seg := range strings.SplitSeq(strings.Trim(routes[i].pattern, "/"), "/") {
			n = n.child(seg)
		}
		if n.methods == nil {
			n.methods = map[string]*route{}
		}
		n.methods[routes[i].method] = &routes[i]
	}
	return root
}

func (n *node) child(seg string) *node {
	if strings.HasPrefix(seg, "{") {
		if n.any == nil {
			n.any = &node{}
		}
		return n.any
	}
	if n.next == nil {
		n.next = map[string]*node{}
	}
	if n.next[seg] == nil {
		n.next[seg] = &node{}
	}
	return n.next[seg]
}

// find returns the place of an escaped path and the values in it, in order. A
// path is taken as it is: nothing is cleaned, and nothing is redirected.
func (n *node) find(path string, values []string) (*node, []string) {
	path, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil, nil
	}
	for {
		seg, rest, more := strings.Cut(path, "/")
		value := seg
		if strings.IndexByte(seg, '%') >= 0 {
			var err error
			if value, err = url.PathUnescape(seg); err != nil {
				return nil, nil
			}
		}
		switch {
		case n.next[seg] != nil:
			n = n.next[seg]
		case n.any != nil && value != "":
			n, values = n.any, append(values, value)
		default:
			return nil, nil
		}
		if !more {
			break
		}
		path = rest
	}
	if n.methods == nil {
		return nil, nil
	}
	return n, values
}

// allow is the value of the Allow header.
func (n *node) allow() string {
	var list []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if n.methods[m] != nil {
			list = append(list, m)
		}
	}
	return strings.Join(list, ", ")
}

// method is the route of a method. HEAD is taken for GET where there is
// nothing to wait for and nothing to learn.
func (n *node) method(name string) *route {
	if name == http.MethodHead {
		if r := n.methods[http.MethodGet]; r != nil && r.who&local != 0 {
			return r
		}
	}
	return n.methods[name]
}
