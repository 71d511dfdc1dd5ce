package server

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/sayso-dev/sayso"
)

// audience is a set of those who may use a route.
type audience uint16

const (
	agents audience = 1 << iota
	tools
	people
	admins
	viewers
	anyone // no token needed
	local  // no token needed on this machine

	requesters = agents | tools
	deciders   = people | admins
	readers    = deciders | viewers
	everyone   = requesters | readers
)

var kinds = map[sayso.PrincipalKind]audience{
	sayso.PrincipalAgent: agents, sayso.PrincipalTool: tools, sayso.PrincipalPerson: people,
	sayso.PrincipalAdmin: admins, sayso.PrincipalViewer: viewers,
}

// includes reports whether a kind of principal is in the set.
func (w audience) includes(k sayso.PrincipalKind) bool { return w&kinds[k] != 0 }

// route is one way to call the server.
type route struct {
	method, pattern string
	audience        audience
	// serve returns the body of a success, nil for none, or errServed if it has
	// answered itself.
	serve func(*Server, *exchange) (any, error)
	limit int64 // of the body in bytes; zero for small
	// isEnabled tells whether the options offer the route; nil for always.
	isEnabled func(*Options) bool

	// What follows is for the document.
	op           string // on a WebSocket; empty for none
	summary      string
	in           reflect.Type // of the body; nil for none
	query        []param
	out          map[int]reflect.Type // by status; a nil type has no body
	failStatuses []int                // statuses beside those that every route has
}

// param is one parameter of an address.
type param struct {
	name, about string
	kind        string // string, integer, boolean or list
}

// Limits of bodies, in bytes.
const (
	smallBody  = 64 << 10
	mediumBody = 1 << 20
	largeBody  = sayso.MaxCall + 2<<20 // a call with its facts
)

// routeNode is one place in the tree of paths.
type routeNode struct {
	children   map[string]*routeNode
	valueChild *routeNode // for a segment that is a value
	methods    map[string]*route
}

// buildTree makes the tree of routes.
func buildTree(routes []route) *routeNode {
	root := &routeNode{}
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

func (n *routeNode) child(seg string) *routeNode {
	if strings.HasPrefix(seg, "{") {
		if n.valueChild == nil {
			n.valueChild = &routeNode{}
		}
		return n.valueChild
	}
	if n.children == nil {
		n.children = map[string]*routeNode{}
	}
	if n.children[seg] == nil {
		n.children[seg] = &routeNode{}
	}
	return n.children[seg]
}

// find returns the place of an escaped path and the values in it, in order. A
// path is taken as it is: nothing is cleaned, and nothing is redirected.
func (n *routeNode) find(path string, values []string) (*routeNode, []string) {
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
		case n.children[seg] != nil:
			n = n.children[seg]
		case n.valueChild != nil && value != "":
			n, values = n.valueChild, append(values, value)
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
func (n *routeNode) allow() string {
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
func (n *routeNode) method(name string) *route {
	if name == http.MethodHead {
		if r := n.methods[http.MethodGet]; r != nil && r.audience&local != 0 {
			return r
		}
	}
	return n.methods[name]
}
