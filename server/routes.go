package server

import (
	"net/http"
	"reflect"
	"slices"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/internal/wire"
)

// of is a type for the document.
func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

// gives is the answer of a route that always has a body.
func gives[T any]() map[int]reflect.Type { return map[int]reflect.Type{http.StatusOK: of[T]()} }

// done is the answer of a route that has no body.
var done = map[int]reflect.Type{http.StatusNoContent: nil}

// decides is the answer of a route that waits for a decision.
var decides = map[int]reflect.Type{http.StatusOK: of[sayso.Decision](), http.StatusAccepted: of[wire.Pending]()}

// allRoutes is the whole API. The document is made from it, and so are the
// tests that every route refuses what it must.
func allRoutes() []route {
	var all []route
	for _, part := range [][]route{gateRoutes(), inboxRoutes(), sessionRoutes(), ruleRoutes(), definitionRoutes(), noticeRoutes(), adminRoutes(), localRoutes()} {
		all = append(all, part...)
	}
	return all
}

func gateRoutes() []route {
	gone := []int{http.StatusNotFound, http.StatusConflict, http.StatusGone}
	return []route{
		{method: "POST", pattern: "/v1/admissions", who: askers, serve: (*Server).postAdmission, limit: large,
			op: wire.OpAdmit, summary: "Ask whether a call may run, and wait for people as long as patience_s says",
			in: of[wire.Admit](), out: decides, fails: []int{409, 410, 428, 429}},
		{method: "POST", pattern: "/v1/requests/{id}/presentation", who: askers, serve: (*Server).postPresentation, limit: large,
			op: wire.OpPresentation, summary: "Send what a person is shown for an admission that was answered 428; {id} is its ticket",
			in: of[sayso.Presentation](), out: decides, fails: []int{404, 409, 410, 429}},
		{method: "POST", pattern: "/v1/requests/{id}/redeem", who: askers, serve: (*Server).postRedeem, limit: large,
			op: wire.OpRedeem, summary: "Spend a receipt on the call about to run, once",
			in: of[wire.RedeemBody](), out: gives[wire.Redeemed](), fails: append(gone, http.StatusPreconditionFailed)},
		{method: "POST", pattern: "/v1/requests/{id}/outcome", who: askers, serve: (*Server).postOutcome,
			op: wire.OpOutcome, summary: "Report what became of a call that ran",
			in: of[wire.OutcomeBody](), out: done, fails: gone},
		{method: "POST", pattern: "/v1/requests/{id}/withdraw", who: askers, serve: (*Server).postWithdraw,
			op: wire.OpWithdraw, summary: "Take an open request back, or void an approval that was not redeemed",
			in: of[wire.WithdrawBody](), out: done, fails: gone},
		{method: "POST", pattern: "/v1/sessions/{session}/begin", who: askers, serve: (*Server).postBegin,
			op: wire.OpBegin, summary: "Record that a session of a host began", in: of[wire.BeginBody](), out: done},
		{method: "POST", pattern: "/v1/sessions/{session}/end", who: askers, serve: (*Server).postEnd,
			op: wire.OpEnd, summary: "Record that a session ended; its grants end with it", in: of[wire.Nothing](), out: done},
		{method: "POST", pattern: "/v1/sessions/{session}/calls/{call}/outcome", who: askers, serve: (*Server).postCallOutcome,
			summary: "Report what became of a call, by its own id", in: of[wire.OutcomeBody](), out: done, fails: gone},
	}
}

// selection are the parameters of a list of requests.
var selection = []param{
	{"session", "of these sessions", "list"},
	{"state", "in these states: open (held and parked), held, parked, allowed, denied, expired, withdrawn", "list"},
	{"group", "with this group_id", "string"}, {"call_id", "begun by this call", "string"}, {"digest", "of exactly this call", "string"},
	{"tool", "of this tool, by its canonical name", "string"}, {"host", "from this host", "string"},
	{"asked", "only those that a person was asked about", "boolean"},
	{"unspent", "only those that something can still come of", "boolean"},
	{"since", "made at or after this time (RFC 3339)", "string"}, {"until", "made before this time", "string"},
	{"before", "begun before this position in the log", "integer"},
	{"oldest", "oldest first; open ones always are", "boolean"}, {"limit", "at most so many; if absent, all that wait, or 100 in other states", "integer"},
}

// sought are the parameters of the history alone. Where the log has no index
// for them a search may end early; next then says where to go on.
var sought = []param{
	{"by", "answered by this principal", "string"},
	{"source", "decided by policy, person, grant, mode or deadline", "string"}, {"cause", "asked for this cause", "string"},
	{"text", "in which all these words stand", "string"}, {"longer", "that took at least so long to be decided: 30s, 5m", "string"},
	{"like", "like this request: of the same tool, and for commands of the same program", "string"},
}

func inboxRoutes() []route {
	late := []int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusPreconditionFailed, http.StatusPreconditionRequired}
	return []route{
		{method: "GET", pattern: "/v1/requests", who: everyone, serve: (*Server).getRequests, query: selection,
			op: wire.OpRequests, summary: "Requests, the open ones if no state is named; askers see their own", out: gives[wire.Requests]()},
		{method: "GET", pattern: "/v1/history", who: lookers, serve: (*Server).getHistory, query: slices.Concat(selection, sought),
			summary: "Requests in every state, newest first; next, given as before, continues", out: gives[wire.Requests](), fails: []int{404}},
		{method: "GET", pattern: "/v1/requests/{id}", who: everyone, serve: (*Server).getRequest,
			op: wire.OpRequest, summary: "One request; {id} may be a short one", out: gives[sayso.Request](), fails: []int{404, 409}},
		{method: "GET", pattern: "/v1/requests/{id}/content", who: deciders, serve: (*Server).getContent,
			query: []param{{"tokens", "what is shown of it also as tokens: pairs of a class and a text that together are the content of the presentation", "boolean"}},
			op:    wire.OpContent, summary: "Everything that may be shown of a request, in full", out: gives[wire.Content](), fails: []int{404}},
		{method: "GET", pattern: "/v1/requests/{id}/life", who: lookers, serve: (*Server).getLife,
			op: wire.OpLife, summary: "The events of one request", out: gives[wire.Life](), fails: []int{404}},
		{method: "POST", pattern: "/v1/requests/{id}/answer", who: deciders, serve: (*Server).postAnswer, limit: large,
			op: wire.OpAnswer, summary: "Answer a request, naming the digest and the content that were shown",
			in: of[wire.AnswerBody](), out: gives[sayso.Decision](), fails: late},
		{method: "POST", pattern: "/v1/groups/{group}/answer", who: deciders, serve: (*Server).postGroup, limit: medium,
			op: wire.OpGroup, summary: "Give one answer to each of the listed members of a group",
			in: of[wire.GroupBody](), out: gives[wire.GroupResult](), fails: []int{http.StatusPreconditionRequired}},
		{method: "GET", pattern: "/v1/head", who: everyone, serve: (*Server).getHead,
			op: wire.OpHead, summary: "The end of the log", out: gives[wire.Head]()},
		{method: "GET", pattern: "/v1/events", who: everyone, serve: (*Server).events,
			query: []param{
				{"since", "events behind this position; only new ones if absent", "integer"}, {"session", "of this session", "string"},
				{"type", "of these types", "list"}, {"request", "of this request", "string"},
			},
			op: wire.OpFollow, summary: "The log as it grows, as server-sent events; ids are positions, Last-Event-ID resumes",
			out: gives[eventStream](), fails: []int{429}},
		{method: "GET", pattern: "/v1/ws", who: everyone, serve: (*Server).socket,
			summary: "A WebSocket of frames {id, op, body} that mirror these routes", out: map[int]reflect.Type{http.StatusSwitchingProtocols: nil}},
	}
}

func sessionRoutes() []route {
	late := []int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusPreconditionFailed, http.StatusPreconditionRequired}
	return []route{
		{method: "GET", pattern: "/v1/sessions", who: lookers, serve: (*Server).getSessions,
			query: []param{{"since", "that made a call at or after this time (RFC 3339); in the last week if absent", "string"}},
			op:    wire.OpSessions, summary: "Sessions of agents, the newest first, with who answers for them", out: gives[wire.Sessions]()},
		{method: "GET", pattern: "/v1/sessions/{session}/requests", who: everyone, serve: (*Server).getSessionRequests, query: selection[1:],
			summary: "Requests of one session, the open ones if no state is named", out: gives[wire.Requests]()},
		{method: "GET", pattern: "/v1/sessions/{session}/calls/{call}", who: everyone, serve: (*Server).getCall,
			op: wire.OpCall, summary: "The request that a call of a session is", out: gives[sayso.Request](), fails: []int{404}},
		{method: "POST", pattern: "/v1/sessions/{session}/calls/{call}/answer", who: deciders, serve: (*Server).postCallAnswer, limit: large,
			summary: "Answer the request that a call of a session is", in: of[wire.AnswerBody](), out: gives[sayso.Decision](), fails: late},
		{method: "GET", pattern: "/v1/sessions/{session}/policies", who: deciders, serve: (*Server).getPolicies,
			op: wire.OpPolicies, summary: "The tool policies of a session", out: gives[wire.PoliciesBody]()},
		{method: "PUT", pattern: "/v1/sessions/{session}/policies", who: deciders, serve: (*Server).putPolicies, limit: medium,
			op: wire.OpSetPolicies, summary: "Replace the tool policies of a session", in: of[wire.PoliciesBody](), out: done},
	}
}

func ruleRoutes() []route {
	return []route{
		{method: "GET", pattern: "/v1/grants", who: deciders, serve: (*Server).getGrants,
			query: []param{{"session", "of this session", "string"}, {"all", "ended ones too", "boolean"}},
			op:    wire.OpGrants, summary: "Remembered answers that are in force", out: gives[wire.GrantList]()},
		{method: "DELETE", pattern: "/v1/grants/{id}", who: deciders, serve: (*Server).deleteGrant,
			op: wire.OpRevoke, summary: "End a remembered answer", out: done, fails: []int{404}},
		{method: "GET", pattern: "/v1/mode", who: lookers, serve: (*Server).getMode,
			query: []param{{"session", "of this session; for all if absent", "string"}},
			op:    wire.OpMode, summary: "The mode in force", out: gives[wire.ModeState]()},
		{method: "PUT", pattern: "/v1/mode", who: deciders, serve: (*Server).putMode,
			op: wire.OpSetMode, summary: "Set the mode of a session, or for all, which takes an admin", in: of[wire.Mode](), out: done},
		{method: "GET", pattern: "/v1/status", who: lookers, serve: (*Server).getStatus,
			op: wire.OpStatus, summary: "How often people are asked and by what, what waits, and whether agents are wired; of the calls that you may see", out: gives[status.Report]()},
		{method: "GET", pattern: "/v1/policy", who: lookers, serve: (*Server).policyInfo, needs: func(o *Options) bool { return o.Policy != nil },
			summary: "Which policy is in force", out: gives[wire.PolicyInfo]()},
		{method: "GET", pattern: "/v1/policy/files", who: deciders, serve: (*Server).getPolicyFiles, needs: looksBack,
			op: wire.OpPolicyFiles, summary: "The text of the policy in force, file by file, and what is wrong with it", out: gives[wire.PolicyFiles]()},
		{method: "POST", pattern: "/v1/policy/check", who: deciders, serve: (*Server).postCheck, limit: large,
			op: wire.OpCheck, summary: "Judge a call without recording anything", in: of[wire.Check](), out: gives[wire.Verdict]()},
		{method: "POST", pattern: "/v1/policy/explain", who: deciders, serve: (*Server).postExplain, limit: large, needs: looksBack,
			op: wire.OpExplain, summary: "Say why a call, or a request of the log, comes out as it does, and what to write to change that",
			in: of[wire.Explain](), out: gives[wire.Explanation](), fails: []int{404, 409}},
		{method: "POST", pattern: "/v1/policy/replay", who: deciders, serve: (*Server).postReplay, limit: medium, needs: looksBack,
			op: wire.OpReplay, summary: "Judge the calls of the log again with another policy file, and list what would have come out otherwise",
			in: of[wire.Replay](), out: gives[wire.Replayed]()},
	}
}

// pins tells whether definitions are known here.
func pins(o *Options) bool { return o.Pins != nil }

func definitionRoutes() []route {
	return []route{
		{method: "GET", pattern: "/v1/definitions", who: deciders, serve: (*Server).getDefinitions, needs: pins,
			op: wire.OpDefinitions, summary: "What MCP servers say of their tools: what is trusted, and first what changed since and does not run", out: gives[wire.Definitions]()},
		{method: "POST", pattern: "/v1/definitions/accept", who: deciders, serve: (*Server).postAccept, needs: pins,
			op: wire.OpAccept, summary: "Trust a definition that changed, naming the digest of what was shown",
			in: of[wire.AcceptBody](), out: done, fails: []int{404, http.StatusPreconditionFailed, http.StatusPreconditionRequired}},
	}
}

// sends tells whether anybody elsewhere can be told.
func sends(o *Options) bool { return o.Notices != nil }

func noticeRoutes() []route {
	return []route{
		{method: "GET", pattern: "/v1/notices", who: deciders, serve: (*Server).getNotices, needs: sends,
			op: wire.OpNotices, summary: "Who elsewhere is told what waits, and the notices that could not be delivered", out: gives[wire.Notices]()},
		{method: "POST", pattern: "/v1/notices/{id}/retry", who: deciders, serve: (*Server).postRetry, needs: sends,
			op: wire.OpRetry, summary: "Have a notice tried again that could not be delivered", in: of[wire.Nothing](), out: gives[wire.Notice](), fails: []int{404}},
	}
}

// looksBack tells whether somebody explains and replays.
func looksBack(o *Options) bool { return o.LookBack != nil }

func adminRoutes() []route {
	tokens := func(o *Options) bool { return o.Tokens != nil }
	return []route{
		{method: "POST", pattern: "/v1/login", who: anyone, serve: (*Server).login, needs: func(o *Options) bool { return o.Login != nil },
			summary: "Change a code that is good once into a token", in: of[wire.Login](), out: gives[wire.Token](), fails: []int{429}},
		{method: "POST", pattern: "/v1/logout", who: everyone, serve: (*Server).logout, needs: func(o *Options) bool { return o.Logout != nil },
			summary: "End the token that this request shows", in: of[wire.Nothing](), out: done},
		{method: "GET", pattern: "/v1/tokens", who: admins, serve: (*Server).listTokens, needs: tokens,
			summary: "All tokens, without their secrets", out: gives[wire.Tokens]()},
		{method: "POST", pattern: "/v1/tokens", who: admins, serve: (*Server).createToken, needs: tokens,
			summary: "Make a token; it is shown this once", in: of[wire.NewToken](), out: gives[wire.MadeToken]()},
		{method: "DELETE", pattern: "/v1/tokens/{id}", who: admins, serve: (*Server).revokeToken, needs: tokens,
			summary: "End a token", out: done, fails: []int{404}},
	}
}

// text stands for bodies that are no JSON.
type text struct{}

// eventStream stands for the stream of events.
type eventStream struct{}

func localRoutes() []route {
	return []route{
		{method: "GET", pattern: "/healthz", who: local, serve: (*Server).health, summary: "Whether the process answers", out: gives[wire.Status]()},
		{method: "GET", pattern: "/readyz", who: local, serve: (*Server).ready, summary: "Whether the log can be read", out: gives[wire.Status]()},
		{method: "GET", pattern: "/metrics", who: local, serve: (*Server).exposeMetrics, summary: "Metrics for Prometheus", out: gives[text]()},
		{method: "GET", pattern: "/openapi.json", who: local, serve: (*Server).document, summary: "This document", out: gives[anyObject]()},
	}
}

// anyObject stands for an object that is described elsewhere.
type anyObject struct{}
