package server

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/internal/wire"
)

const componentPrefix = "#/components/schemas/"

// named are the types that have a schema of their own in the document.
var named = []reflect.Type{
	of[sayso.Actor](), of[sayso.Annotations](), of[sayso.Call](), of[sayso.CoverOffer](), of[sayso.Decision](),
	of[sayso.Facts](), of[sayso.FileFact](), of[sayso.Grant](), of[sayso.Mark](), of[sayso.Member](), of[sayso.PathFact](), of[sayso.Presentation](),
	of[sayso.Receipt](), of[sayso.Redaction](), of[sayso.Request](), of[sayso.Requirement](),
	of[sayso.ToolAsk](), of[sayso.Warning](),
	of[wire.Admit](), of[wire.AnswerBody](), of[wire.BeginBody](), of[wire.Check](), of[wire.Content](), of[wire.GrantList](), of[wire.GroupBody](),
	of[wire.GroupResult](), of[wire.Head](), of[wire.Life](), of[wire.Login](), of[wire.MadeToken](), of[wire.Match](),
	of[wire.MemberResult](), of[wire.Mode](), of[wire.ModeState](), of[wire.NewToken](), of[wire.Nothing](), of[wire.OutcomeBody](),
	of[wire.Pending](), of[wire.PoliciesBody](), of[wire.PolicyInfo](), of[wire.Problem](), of[wire.RedeemBody](), of[wire.Redeemed](),
	of[wire.Requests](), of[sayso.SessionInfo](), of[wire.Sessions](), of[wire.Status](), of[wire.Token](), of[wire.TokenInfo](), of[wire.Tokens](), of[wire.Verdict](),
	of[wire.WithdrawBody](),
	of[wire.AcceptBody](), of[wire.Definition](), of[wire.Definitions](),
	of[wire.Notice](), of[wire.NoticeTarget](), of[wire.Notices](),
	of[wire.Explain](), of[wire.Explanation](), of[wire.Spoken](), of[wire.CommandOutcome](), of[wire.Near](), of[wire.Change](), of[wire.Edit](),
	of[wire.Replay](), of[wire.Replayed](), of[wire.Gap](), of[wire.Turn](), of[wire.Turned](), of[wire.Came](),
	of[wire.PolicyFiles](), of[wire.PolicyFile](), of[wire.PolicyNote](),
	of[status.Report](), of[status.Machine](), of[status.Off](), of[status.Policy](), of[status.Wiring](), of[status.Open](), of[status.AgeCount](),
	of[status.Counts](), of[status.Rate](), of[status.Host](), of[status.Rule](), of[status.Session](),
}

// componentName is the name of a type in the document.
func componentName(t reflect.Type) string { return strings.TrimSuffix(t.Name(), "Body") }

func words[T ~string](list ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range list {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

// leaves are the types that are written as something else than their Go kind.
func leaves() map[reflect.Type]*jsonschema.Schema {
	anything := &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{}}
	return map[reflect.Type]*jsonschema.Schema{
		of[sayso.Args]():   anything,
		of[sayso.Digest](): {Type: "string", Pattern: "^(sha256:[0-9a-f]{64})?$"},
		of[sayso.Effect](): words("deny", "ask", "allow"),
		of[sayso.ID]():     {Type: "string", Pattern: "^([0-9a-hjkmnp-tv-z]{36})?$"},
		of[sayso.State]():  words(sayso.StateOpen, sayso.StateParked, sayso.StateAllowed, sayso.StateDenied, sayso.StateExpired, sayso.StateWithdrawn),
		of[sayso.Scope]():  words(sayso.ScopeOnce, sayso.ScopeSession, ""),
		of[sayso.Cover]():  words(append(sayso.Covers(), "")...),
		of[sayso.Kind]():   words(append(kindWords, "")...),
		of[sayso.Mode]():   words(sayso.ModeInteractive, sayso.ModeApproveAll, sayso.ModeStrict, ""),
		of[sayso.Switch](): words(sayso.SwitchOff, sayso.SwitchOn, sayso.SwitchLocked, sayso.SwitchReleased),
		of[sayso.PrincipalKind](): words(sayso.PrincipalAgent, sayso.PrincipalTool, sayso.PrincipalPerson,
			sayso.PrincipalAdmin, sayso.PrincipalViewer, sayso.PrincipalBroker),
		of[sayso.PresentationType](): words(sayso.PresentText, sayso.PresentDiff, sayso.PresentFileContent, sayso.PresentCommand, sayso.PresentStructured),
		of[status.Protection]():      words(status.Protected, status.NotProtected, status.Unknown),
		of[wire.Code]():              words(slices.Sorted(maps.Keys(wire.Codes()))...),
		of[time.Time]():              {Type: "string", Format: "date-time"},
		of[sayso.Event]():            {Ref: componentPrefix + "Event"},
	}
}

var kindWords = []sayso.Kind{
	sayso.KindShell, sayso.KindRead, sayso.KindWrite, sayso.KindEdit, sayso.KindDelete, sayso.KindList, sayso.KindFetch,
	sayso.KindSearch, sayso.KindDelegate, sayso.KindMCP, sayso.KindOther,
}

// components makes the schemas of all named types.
func (d *describer) components() error {
	d.refs, d.schemas = leaves(), map[string]*jsonschema.Schema{}
	for _, t := range named {
		d.refs[t] = &jsonschema.Schema{Ref: componentPrefix + componentName(t)}
	}
	for _, t := range named {
		s, err := d.make(t)
		if err != nil {
			return err
		}
		if d.schemas[componentName(t)] != nil {
			return fmt.Errorf("two types are called %s", componentName(t))
		}
		d.schemas[componentName(t)] = s
	}
	return d.events()
}

// make is the schema of a type itself, whose members refer to other types.
func (d *describer) make(t reflect.Type) (*jsonschema.Schema, error) {
	refs := maps.Clone(d.refs)
	delete(refs, t)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous { // its members are ours
			delete(refs, f.Type)
		}
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: refs})
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	if t == of[wire.AnswerBody]() { // only an answer to a group, which shares its members, may leave them out
		s.Required = append(s.Required, "digest", "content")
	}
	plainNulls(s)
	return s, nil
}

// plainNulls makes lists, maps, words and objects what our encoder writes: never
// null.
func plainNulls(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	compound := slices.Contains(s.Types, "array") || slices.Contains(s.Types, "object") || s.Enum != nil
	if i := slices.Index(s.Types, "null"); i >= 0 && compound && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
	if s.Ref != "" {
		s.Type, s.Types = "", nil
	}
	for _, p := range s.Properties {
		plainNulls(p)
	}
	plainNulls(s.Items)
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil {
		plainNulls(s.AdditionalProperties)
	}
}

// of is the schema by which a body of this type is described.
func (d *describer) of(t reflect.Type) (*jsonschema.Schema, error) {
	if ref, ok := d.refs[t]; ok {
		return ref, nil
	}
	return nil, fmt.Errorf("%s has no schema", t)
}

// payload is what events of one type tell: what always stands in the log, and
// what may be erased from it.
type payload struct {
	fixed, erasable reflect.Type
}

var payloads = map[sayso.EventType]payload{
	sayso.EventAnswered:       {of[sayso.Answered](), of[sayso.AnsweredShown]()},
	sayso.EventResolved:       {of[sayso.Resolved](), of[sayso.AnsweredShown]()},
	sayso.EventExpired:        {of[sayso.Closed](), nil},
	sayso.EventWithdrawn:      {of[sayso.Closed](), nil},
	sayso.EventParked:         {of[sayso.Parked](), nil},
	sayso.EventTaken:          {of[sayso.Taken](), nil},
	sayso.EventRedeemed:       {of[sayso.Redeemed](), nil},
	sayso.EventVoided:         {of[sayso.Closed](), nil},
	sayso.EventFinished:       {of[sayso.Finished](), nil},
	sayso.EventAnswerRefused:  {of[sayso.AnswerRefused](), nil},
	sayso.EventGrantCreated:   {of[sayso.GrantCreated](), of[sayso.GrantShown]()},
	sayso.EventGrantUsed:      {of[sayso.GrantUsed](), nil},
	sayso.EventGrantRevoked:   {of[sayso.Closed](), nil},
	sayso.EventGrantEnded:     {of[sayso.Closed](), nil},
	sayso.EventSessionStarted: {of[sayso.SessionStarted](), nil},
	sayso.EventSessionPolicy:  {of[sayso.SessionPolicy](), nil},
	sayso.EventSessionEnded:   {of[sayso.Closed](), nil},
	sayso.EventModeChanged:    {of[sayso.ModeChanged](), nil},
	sayso.EventPolicyLoaded:   {of[sayso.PolicyLoaded](), nil},
	sayso.EventContentErased:  {of[sayso.ContentErased](), nil},

	sayso.EventDefinitionAccepted:    {of[sayso.DefinitionSeen](), nil},
	sayso.EventDefinitionQuarantined: {of[sayso.DefinitionSeen](), nil},
}

// events makes the schema of an event: the envelope, and by its type the
// payload.
func (d *describer) events() error {
	str := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }
	num := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "integer", Minimum: new(0.0)} }
	e := &jsonschema.Schema{Type: "object", AdditionalProperties: never(), Properties: map[string]*jsonschema.Schema{
		"seq": num(), "id": d.refs[of[sayso.ID]()], "stream": str(), "pos": num(), "type": words(sayso.EventTypes()...), "version": num(),
		"created_at": d.refs[of[time.Time]()],
		"boot": {Type: "object", AdditionalProperties: never(), Required: []string{"id", "since_ns"},
			Properties: map[string]*jsonschema.Schema{"id": str(), "since_ns": {Type: "integer"}}},
		"actor": d.refs[of[sayso.Actor]()], "session_id": str(), "run_id": str(), "approval_id": d.refs[of[sayso.ID]()],
		"call_id": str(), "payload": {Type: "object"}, "commitment": d.refs[of[sayso.Digest]()],
		"prev": d.refs[of[sayso.Digest]()], "hash": d.refs[of[sayso.Digest]()],
	}}
	e.Required = slices.Sorted(maps.Keys(e.Properties))
	for _, t := range sayso.EventTypes() {
		s, err := d.payload(t)
		if err != nil {
			return err
		}
		if s != nil {
			e.AllOf = append(e.AllOf, &jsonschema.Schema{If: has("type", &jsonschema.Schema{Const: new(any(string(t)))}), Then: has("payload", s)})
		}
	}
	d.schemas["Event"] = e
	return nil
}

func has(name string, s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{name: s}}
}

func never() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// payload is the schema of the payload of one type of event.
func (d *describer) payload(t sayso.EventType) (*jsonschema.Schema, error) {
	if t == sayso.EventRequested {
		return d.refs[of[sayso.Request]()], nil
	}
	p, ok := payloads[t]
	if !ok {
		return nil, nil
	}
	s, err := d.make(p.fixed)
	if err != nil || p.erasable == nil {
		return s, err
	}
	more, err := d.make(p.erasable)
	if err != nil {
		return nil, err
	}
	maps.Copy(s.Properties, more.Properties)
	s.PropertyOrder = append(s.PropertyOrder, more.PropertyOrder...)
	return s, nil
}
