package server

import (
	"net/http"
	"reflect"
	"slices"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/internal/wire"
)

// typeOf is a type for the document.
func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// respondsWith is the answer of a route that always has a body.
func respondsWith[T any]() map[int]reflect.Type {
	return map[int]reflect.Type{http.StatusOK: typeOf[T]()}
}

// noContent is the answer of a route that has no body.
var noContent = map[int]reflect.Type{http.StatusNoContent: nil}

// decisionResponses is the answer of a route that waits for a decision.
var decisionResponses = map[int]reflect.Type{http.StatusOK: typeOf[sayso.Decision](), http.StatusAccepted: typeOf[wire.Pending]()}

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
		{method: "POST", pattern: "/v1/admissions", audience: requesters, serve: (*Server).postAdmission, limit: largeBody,
			op: wire.OpAdmit, summary: "Ask whether a call may run, and wait for people as long as patience_s says",
			in: typeOf[wire.Admit](), out: decisionResponses, failStatuses: []int{409, 410, 428, 429}},
		{method: "POST", pattern: "/v1/requests/{id}/presentation", audience: requesters, serve: (*Server).postPresentation, limit: largeBody,
			op: wire.OpPresentation, summary: "Send what a person is shown for an admission that was answered 428; {id} is its ticket",
			in: typeOf[sayso.Presentation](), out: decisionResponses, failStatuses: []int{404, 409, 410, 429}},
		{method: "POST", pattern: "/v1/requests/{id}/redeem", audience: requesters, serve: (*Server).postRedeem, limit: largeBody,
			op: wire.OpRedeem, summary: "Spend a receipt on the call about to run, once",
			in: typeOf[wire.RedeemBody](), out: respondsWith[wire.Redeemed](), failStatuses: append(gone, http.StatusPreconditionFailed)},
		{method: "POST", pattern: "/v1/requests/{id}/outcome", audience: requesters, serve: (*Server).postOutcome,
			op: wire.OpOutcome, summary: "Report what became of a call that ran",
			in: typeOf[wire.OutcomeBody](), out: noContent, failStatuses: gone},
		{method: "POST", pattern: "/v1/requests/{id}/withdraw", audience: requesters, serve: (*Server).postWithdraw,
			op: wire.OpWithdraw, summary: "Take an open request back, or void an approval that was not redeemed",
			in: typeOf[wire.WithdrawBody](), out: noContent, failStatuses: gone},
		{method: "POST", pattern: "/v1/sessions/{session}/begin", audience: requesters, serve: (*Server).postBegin,
			op: wire.OpBegin, summary: "Record that a session of a host began", in: typeOf[wire.BeginBody](), out: noContent},
		{method: "POST", pattern: "/v1/sessions/{session}/end", audience: requesters, serve: (*Server).postEnd,
			op: wire.OpEnd, summary: "Record that a session ended; its grants end with it", in: typeOf[wire.Nothing](), out: noContent},
		{method: "POST", pattern: "/v1/sessions/{session}/calls/{call}/outcome", audience: requesters, serve: (*Server).postCallOutcome,
			summary: "Report what became of a call, by its own id", in: typeOf[wire.OutcomeBody](), out: noContent, failStatuses: gone},
	}
}

// listParams are the parameters of a list of requests.
var listParams = []param{
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

// searchParams are the parameters of the history alone. Where the log has no index
// for them a search may end early; next then says where to go on.
var searchParams = []param{
	{"by", "answered by this principal", "string"},
	{"source", "decided by policy, person, grant, mode or deadline", "string"}, {"cause", "asked for this cause", "string"},
	{"text", "in which all these words stand", "string"}, {"longer", "that took at least so long to be decided: 30s, 5m", "string"},
	{"like", "like this request: of the same tool, and for commands of the same program", "string"},
}

func inboxRoutes() []route {
	late := []int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusPreconditionFailed, http.StatusPreconditionRequired}
	return []route{
		{method: "GET", pattern: "/v1/requests", audience: everyone, serve: (*Server).getRequests, query: listParams,
			op: wire.OpRequests, summary: "Requests, the open ones if no state is named; askers see their own", out: respondsWith[wire.Requests]()},
		{method: "GET", pattern: "/v1/history", audience: readers, serve: (*Server).getHistory, query: slices.Concat(listParams, searchParams),
			summary: "Requests in every state, newest first; next, given as before, continues", out: respondsWith[wire.Requests](), failStatuses: []int{404}},
		{method: "GET", pattern: "/v1/requests/{id}", audience: everyone, serve: (*Server).getRequest,
			op: wire.OpRequest, summary: "One request; {id} may be a short one", out: respondsWith[sayso.Request](), failStatuses: []int{404, 409}},
		{method: "GET", pattern: "/v1/requests/{id}/content", audience: deciders, serve: (*Server).getContent,
			query: []param{{"tokens", "what is shown of it also as tokens: pairs of a class and a text that together are the content of the presentation", "boolean"}},
			op:    wire.OpContent, summary: "Everything that may be shown of a request, in full", out: respondsWith[wire.Content](), failStatuses: []int{404}},
		{method: "GET", pattern: "/v1/requests/{id}/life", audience: readers, serve: (*Server).getLife,
			op: wire.OpLife, summary: "The events of one request", out: respondsWith[wire.Life](), failStatuses: []int{404}},
		{method: "POST", pattern: "/v1/requests/{id}/answer", audience: deciders, serve: (*Server).postAnswer, limit: largeBody,
			op: wire.OpAnswer, summary: "Answer a request, naming the digest and the content that were shown",
			in: typeOf[wire.AnswerBody](), out: respondsWith[sayso.Decision](), failStatuses: late},
		{method: "POST", pattern: "/v1/groups/{group}/answer", audience: deciders, serve: (*Server).postGroup, limit: mediumBody,
			op: wire.OpGroup, summary: "Give one answer to each of the listed members of a group",
			in: typeOf[wire.GroupBody](), out: respondsWith[wire.GroupResult](), failStatuses: []int{http.StatusPreconditionRequired}},
		{method: "GET", pattern: "/v1/head", audience: everyone, serve: (*Server).getHead,
			op: wire.OpHead, summary: "The end of the log", out: respondsWith[wire.Head]()},
		{method: "GET", pattern: "/v1/events", audience: everyone, serve: (*Server).events,
			query: []param{
				{"since", "events behind this position; only new ones if absent", "integer"}, {"session", "of this session", "string"},
				{"type", "of these types", "list"}, {"request", "of this request", "string"},
			},
			op: wire.OpFollow, summary: "The log as it grows, as server-sent events; ids are positions, Last-Event-ID resumes",
			out: respondsWith[eventStreamBody](), failStatuses: []int{429}},
		{method: "GET", pattern: "/v1/ws", audience: everyone, serve: (*Server).socket,
			summary: "A WebSocket of frames {id, op, body} that mirror these routes", out: map[int]reflect.Type{http.StatusSwitchingProtocols: nil}},
	}
}

func sessionRoutes() []route {
	late := []int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusPreconditionFailed, http.StatusPreconditionRequired}
	return []route{
		{method: "GET", pattern: "/v1/sessions", audience: readers, serve: (*Server).getSessions,
			query: []param{{"since", "that made a call at or after this time (RFC 3339); in the last week if absent", "string"}},
			op:    wire.OpSessions, summary: "Sessions of agents, the newest first, with who answers for them", out: respondsWith[wire.Sessions]()},
		{method: "GET", pattern: "/v1/sessions/{session}/requests", audience: everyone, serve: (*Server).getSessionRequests, query: listParams[1:],
			summary: "Requests of one session, the open ones if no state is named", out: respondsWith[wire.Requests]()},
		{method: "GET", pattern: "/v1/sessions/{session}/calls/{call}", audience: everyone, serve: (*Server).getCall,
			op: wire.OpCall, summary: "The request that a call of a session is", out: respondsWith[sayso.Request](), failStatuses: []int{404}},
		{method: "POST", pattern: "/v1/sessions/{session}/calls/{call}/answer", audience: deciders, serve: (*Server).postCallAnswer, limit: largeBody,
			summary: "Answer the request that a call of a session is", in: typeOf[wire.AnswerBody](), out: respondsWith[sayso.Decision](), failStatuses: late},
		{method: "GET", pattern: "/v1/sessions/{session}/policies", audience: deciders, serve: (*Server).getPolicies,
			op: wire.OpPolicies, summary: "The tool policies of a session", out: respondsWith[wire.PoliciesBody]()},
		{method: "PUT", pattern: "/v1/sessions/{session}/policies", audience: deciders, serve: (*Server).putPolicies, limit: mediumBody,
			op: wire.OpSetPolicies, summary: "Replace the tool policies of a session", in: typeOf[wire.PoliciesBody](), out: noContent},
	}
}

func ruleRoutes() []route {
	return []route{
		{method: "GET", pattern: "/v1/grants", audience: deciders, serve: (*Server).getGrants,
			query: []param{{"session", "of this session", "string"}, {"all", "ended ones too", "boolean"}},
			op:    wire.OpGrants, summary: "Remembered answers that are in force", out: respondsWith[wire.GrantList]()},
		{method: "DELETE", pattern: "/v1/grants/{id}", audience: deciders, serve: (*Server).deleteGrant,
			op: wire.OpRevoke, summary: "End a remembered answer", out: noContent, failStatuses: []int{404}},
		{method: "GET", pattern: "/v1/mode", audience: readers, serve: (*Server).getMode,
			query: []param{{"session", "of this session; for all if absent", "string"}},
			op:    wire.OpMode, summary: "The mode in force", out: respondsWith[wire.ModeState]()},
		{method: "PUT", pattern: "/v1/mode", audience: deciders, serve: (*Server).putMode,
			op: wire.OpSetMode, summary: "Set the mode of a session, or for all, which takes an admin", in: typeOf[wire.Mode](), out: noContent},
		{method: "GET", pattern: "/v1/status", audience: readers, serve: (*Server).getStatus,
			op: wire.OpStatus, summary: "How often people are asked and by what, what waits, and whether agents are wired; of the calls that you may see", out: respondsWith[status.Report]()},
		{method: "GET", pattern: "/v1/policy", audience: readers, serve: (*Server).policyInfo, isEnabled: func(o *Options) bool { return o.Policy != nil },
			summary: "Which policy is in force", out: respondsWith[wire.PolicyInfo]()},
		{method: "GET", pattern: "/v1/policy/files", audience: deciders, serve: (*Server).getPolicyFiles, isEnabled: hasLookBack,
			op: wire.OpPolicyFiles, summary: "The text of the policy in force, file by file, and what is wrong with it", out: respondsWith[wire.PolicyFiles]()},
		{method: "POST", pattern: "/v1/policy/check", audience: deciders, serve: (*Server).postCheck, limit: largeBody,
			op: wire.OpCheck, summary: "Judge a call without recording anything", in: typeOf[wire.Check](), out: respondsWith[wire.Verdict]()},
		{method: "POST", pattern: "/v1/policy/explain", audience: deciders, serve: (*Server).postExplain, limit: largeBody, isEnabled: hasLookBack,
			op: wire.OpExplain, summary: "Say why a call, or a request of the log, comes out as it does, and what to write to change that",
			in: typeOf[wire.Explain](), out: respondsWith[wire.Explanation](), failStatuses: []int{404, 409}},
		{method: "POST", pattern: "/v1/policy/replay", audience: deciders, serve: (*Server).postReplay, limit: mediumBody, isEnabled: hasLookBack,
			op: wire.OpReplay, summary: "Judge the calls of the log again with another policy file, and list what would have come out otherwise",
			in: typeOf[wire.Replay](), out: respondsWith[wire.Replayed]()},
	}
}

// hasPins tells whether definitions are known here.
func hasPins(o *Options) bool { return o.Pins != nil }

func definitionRoutes() []route {
	return []route{
		{method: "GET", pattern: "/v1/definitions", audience: deciders, serve: (*Server).getDefinitions, isEnabled: hasPins,
			op: wire.OpDefinitions, summary: "What MCP servers say of their tools: what is trusted, and first what changed since and does not run", out: respondsWith[wire.Definitions]()},
		{method: "POST", pattern: "/v1/definitions/accept", audience: deciders, serve: (*Server).postAccept, isEnabled: hasPins,
			op: wire.OpAccept, summary: "Trust a definition that changed, naming the digest of what was shown",
			in: typeOf[wire.AcceptBody](), out: noContent, failStatuses: []int{404, http.StatusPreconditionFailed, http.StatusPreconditionRequired}},
		{method: "POST", pattern: "/v1/definitions/keep", audience: deciders, serve: (*Server).postKeep, isEnabled: hasPins,
			op: wire.OpKeep, summary: "Go on trusting the definition from before one that changed, naming the digest of what was shown",
			in: typeOf[wire.AcceptBody](), out: noContent, failStatuses: []int{404, http.StatusPreconditionFailed, http.StatusPreconditionRequired}},
	}
}

// hasNotices tells whether anybody elsewhere can be told.
func hasNotices(o *Options) bool { return o.Notices != nil }

func noticeRoutes() []route {
	return []route{
		{method: "GET", pattern: "/v1/notices", audience: deciders, serve: (*Server).getNotices, isEnabled: hasNotices,
			op: wire.OpNotices, summary: "Who elsewhere is told what waits, and the notices that could not be delivered", out: respondsWith[wire.Notices]()},
		{method: "POST", pattern: "/v1/notices/{id}/retry", audience: deciders, serve: (*Server).postRetry, isEnabled: hasNotices,
			op: wire.OpRetry, summary: "Have a notice tried again that could not be delivered", in: typeOf[wire.Nothing](), out: respondsWith[wire.Notice](), failStatuses: []int{404}},
	}
}

// hasLookBack tells whether somebody explains and replays.
func hasLookBack(o *Options) bool { return o.LookBack != nil }

func adminRoutes() []route {
	tokens := func(o *Options) bool { return o.Tokens != nil }
	return []route{
		{method: "POST", pattern: "/v1/login", audience: anyone, serve: (*Server).login, isEnabled: func(o *Options) bool { return o.Login != nil },
			summary: "Change a code that is good once into a token", in: typeOf[wire.Login](), out: respondsWith[wire.Token](), failStatuses: []int{429}},
		{method: "POST", pattern: "/v1/logout", audience: everyone, serve: (*Server).logout, isEnabled: func(o *Options) bool { return o.Logout != nil },
			summary: "End the token that this request shows", in: typeOf[wire.Nothing](), out: noContent},
		{method: "GET", pattern: "/v1/tokens", audience: admins, serve: (*Server).listTokens, isEnabled: tokens,
			summary: "All tokens, without their secrets", out: respondsWith[wire.Tokens]()},
		{method: "POST", pattern: "/v1/tokens", audience: admins, serve: (*Server).createToken, isEnabled: tokens,
			summary: "Make a token; it is shown this once", in: typeOf[wire.NewToken](), out: respondsWith[wire.MadeToken]()},
		{method: "DELETE", pattern: "/v1/tokens/{id}", audience: admins, serve: (*Server).revokeToken, isEnabled: tokens,
			summary: "End a token", out: noContent, failStatuses: []int{404}},
	}
}

// textBody stands for bodies that are no JSON.
type textBody struct{}

// eventStreamBody stands for the stream of events.
type eventStreamBody struct{}

func localRoutes() []route {
	return []route{
		{method: "GET", pattern: "/healthz", audience: local, serve: (*Server).health, summary: "Whether the process answers", out: respondsWith[wire.Status]()},
		{method: "GET", pattern: "/readyz", audience: local, serve: (*Server).ready, summary: "Whether the log can be read", out: respondsWith[wire.Status]()},
		{method: "GET", pattern: "/metrics", audience: local, serve: (*Server).exposeMetrics, summary: "Metrics for Prometheus", out: respondsWith[textBody]()},
		{method: "GET", pattern: "/openapi.json", audience: local, serve: (*Server).document, summary: "This document", out: respondsWith[anyObject]()},
	}
}

// anyObject stands for an object that is described elsewhere.
type anyObject struct{}
