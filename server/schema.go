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

// namedTypes are the types that have a schema of their own in the document.
var namedTypes = []reflect.Type{
	typeOf[sayso.Actor](), typeOf[sayso.Annotations](), typeOf[sayso.Call](), typeOf[sayso.CoverOffer](), typeOf[sayso.Decision](),
	typeOf[sayso.Facts](), typeOf[sayso.FileFact](), typeOf[sayso.Grant](), typeOf[sayso.Mark](), typeOf[sayso.Member](), typeOf[sayso.PathFact](), typeOf[sayso.Presentation](),
	typeOf[sayso.Receipt](), typeOf[sayso.Redaction](), typeOf[sayso.Request](), typeOf[sayso.Requirement](),
	typeOf[sayso.ToolAsk](), typeOf[sayso.Warning](),
	typeOf[wire.Admit](), typeOf[wire.AnswerBody](), typeOf[wire.BeginBody](), typeOf[wire.Check](), typeOf[wire.Content](), typeOf[wire.GrantList](), typeOf[wire.GroupBody](),
	typeOf[wire.GroupResult](), typeOf[wire.Head](), typeOf[wire.Life](), typeOf[wire.Login](), typeOf[wire.MadeToken](), typeOf[wire.Match](),
	typeOf[wire.MemberResult](), typeOf[wire.Mode](), typeOf[wire.ModeState](), typeOf[wire.NewToken](), typeOf[wire.Nothing](), typeOf[wire.OutcomeBody](),
	typeOf[wire.Pending](), typeOf[wire.PoliciesBody](), typeOf[wire.PolicyInfo](), typeOf[wire.Problem](), typeOf[wire.RedeemBody](), typeOf[wire.Redeemed](),
	typeOf[wire.Requests](), typeOf[sayso.SessionInfo](), typeOf[wire.Sessions](), typeOf[wire.Status](), typeOf[wire.Token](), typeOf[wire.TokenInfo](), typeOf[wire.Tokens](), typeOf[wire.Verdict](),
	typeOf[wire.WithdrawBody](),
	typeOf[wire.AcceptBody](), typeOf[wire.Definition](), typeOf[wire.Definitions](),
	typeOf[wire.Notice](), typeOf[wire.NoticeTarget](), typeOf[wire.Notices](),
	typeOf[wire.Explain](), typeOf[wire.Explanation](), typeOf[wire.Spoken](), typeOf[wire.CommandOutcome](), typeOf[wire.Near](), typeOf[wire.Change](), typeOf[wire.Edit](),
	typeOf[wire.Replay](), typeOf[wire.Replayed](), typeOf[wire.Gap](), typeOf[wire.Turn](), typeOf[wire.Turned](), typeOf[wire.Came](),
	typeOf[wire.PolicyFiles](), typeOf[wire.PolicyFile](), typeOf[wire.PolicyNote](),
	typeOf[status.Report](), typeOf[status.Machine](), typeOf[status.Off](), typeOf[status.Policy](), typeOf[status.Wiring](), typeOf[status.Open](), typeOf[status.AgeCount](),
	typeOf[status.Counts](), typeOf[status.Rate](), typeOf[status.Host](), typeOf[status.Rule](), typeOf[status.Session](),
}

// componentName is the name of a type in the document.
func componentName(t reflect.Type) string { return strings.TrimSuffix(t.Name(), "Body") }

func enumOf[T ~string](list ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range list {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

// basicSchemas are the types that are written as something else than their Go kind.
func basicSchemas() map[reflect.Type]*jsonschema.Schema {
	anything := &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{}}
	return map[reflect.Type]*jsonschema.Schema{
		typeOf[sayso.Args]():   anything,
		typeOf[sayso.Digest](): {Type: "string", Pattern: "^(sha256:[0-9a-f]{64})?$"},
		typeOf[sayso.Effect](): enumOf("deny", "ask", "allow"),
		typeOf[sayso.ID]():     {Type: "string", Pattern: "^([0-9a-hjkmnp-tv-z]{36})?$"},
		typeOf[sayso.State]():  enumOf(sayso.StateOpen, sayso.StateParked, sayso.StateAllowed, sayso.StateDenied, sayso.StateExpired, sayso.StateWithdrawn),
		typeOf[sayso.Scope]():  enumOf(sayso.ScopeOnce, sayso.ScopeSession, ""),
		typeOf[sayso.Cover]():  enumOf(append(sayso.Covers(), "")...),
		typeOf[sayso.Kind]():   enumOf(append(kindWords, "")...),
		typeOf[sayso.Mode]():   enumOf(sayso.ModeInteractive, sayso.ModeApproveAll, sayso.ModeStrict, ""),
		typeOf[sayso.Switch](): enumOf(sayso.SwitchOff, sayso.SwitchOn, sayso.SwitchLocked, sayso.SwitchReleased),
		typeOf[sayso.PrincipalKind](): enumOf(sayso.PrincipalAgent, sayso.PrincipalTool, sayso.PrincipalPerson,
			sayso.PrincipalAdmin, sayso.PrincipalViewer, sayso.PrincipalBroker),
		typeOf[sayso.PresentationType](): enumOf(sayso.PresentText, sayso.PresentDiff, sayso.PresentFileContent, sayso.PresentCommand, sayso.PresentStructured),
		typeOf[status.Protection]():      enumOf(status.Protected, status.NotProtected, status.Unknown),
		typeOf[wire.Code]():              enumOf(slices.Sorted(maps.Keys(wire.Codes()))...),
		typeOf[time.Time]():              {Type: "string", Format: "date-time"},
		typeOf[sayso.Event]():            {Ref: componentPrefix + "Event"},
	}
}

var kindWords = []sayso.Kind{
	sayso.KindShell, sayso.KindRead, sayso.KindWrite, sayso.KindEdit, sayso.KindDelete, sayso.KindList, sayso.KindFetch,
	sayso.KindSearch, sayso.KindDelegate, sayso.KindMCP, sayso.KindOther,
}

// components makes the schemas of all named types.
func (d *documentBuilder) components() error {
	d.refs, d.schemas = basicSchemas(), map[string]*jsonschema.Schema{}
	for _, t := range namedTypes {
		d.refs[t] = &jsonschema.Schema{Ref: componentPrefix + componentName(t)}
	}
	for _, t := range namedTypes {
		s, err := d.schemaOf(t)
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

// schemaOf is the schema of a type itself, whose members refer to other types.
func (d *documentBuilder) schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
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
	if t == typeOf[wire.AnswerBody]() { // only an answer to a group, which shares its members, may leave them out
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

// schemaFor is the schema by which a body of this type is described.
func (d *documentBuilder) schemaFor(t reflect.Type) (*jsonschema.Schema, error) {
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
	sayso.EventAnswered:       {typeOf[sayso.Answered](), typeOf[sayso.AnsweredShown]()},
	sayso.EventResolved:       {typeOf[sayso.Resolved](), typeOf[sayso.AnsweredShown]()},
	sayso.EventExpired:        {typeOf[sayso.Closed](), nil},
	sayso.EventWithdrawn:      {typeOf[sayso.Closed](), nil},
	sayso.EventParked:         {typeOf[sayso.Parked](), nil},
	sayso.EventTaken:          {typeOf[sayso.Taken](), nil},
	sayso.EventRedeemed:       {typeOf[sayso.Redeemed](), nil},
	sayso.EventVoided:         {typeOf[sayso.Closed](), nil},
	sayso.EventFinished:       {typeOf[sayso.Finished](), nil},
	sayso.EventAnswerRefused:  {typeOf[sayso.AnswerRefused](), nil},
	sayso.EventGrantCreated:   {typeOf[sayso.GrantCreated](), typeOf[sayso.GrantShown]()},
	sayso.EventGrantUsed:      {typeOf[sayso.GrantUsed](), nil},
	sayso.EventGrantRevoked:   {typeOf[sayso.Closed](), nil},
	sayso.EventGrantEnded:     {typeOf[sayso.Closed](), nil},
	sayso.EventSessionStarted: {typeOf[sayso.SessionStarted](), nil},
	sayso.EventSessionPolicy:  {typeOf[sayso.SessionPolicy](), nil},
	sayso.EventSessionEnded:   {typeOf[sayso.Closed](), nil},
	sayso.EventModeChanged:    {typeOf[sayso.ModeChanged](), nil},
	sayso.EventPolicyLoaded:   {typeOf[sayso.PolicyLoaded](), nil},
	sayso.EventContentErased:  {typeOf[sayso.ContentErased](), nil},

	sayso.EventDefinitionAccepted:    {typeOf[sayso.DefinitionSeen](), nil},
	sayso.EventDefinitionQuarantined: {typeOf[sayso.DefinitionSeen](), nil},
}

// events makes the schema of an event: the envelope, and by its type the
// payload.
func (d *documentBuilder) events() error {
	str := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }
	num := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "integer", Minimum: new(0.0)} }
	e := &jsonschema.Schema{Type: "object", AdditionalProperties: noSchema(), Properties: map[string]*jsonschema.Schema{
		"seq": num(), "id": d.refs[typeOf[sayso.ID]()], "stream": str(), "pos": num(), "type": enumOf(sayso.EventTypes()...), "version": num(),
		"created_at": d.refs[typeOf[time.Time]()],
		"boot": {Type: "object", AdditionalProperties: noSchema(), Required: []string{"id", "since_ns"},
			Properties: map[string]*jsonschema.Schema{"id": str(), "since_ns": {Type: "integer"}}},
		"actor": d.refs[typeOf[sayso.Actor]()], "session_id": str(), "run_id": str(), "approval_id": d.refs[typeOf[sayso.ID]()],
		"call_id": str(), "payload": {Type: "object"}, "commitment": d.refs[typeOf[sayso.Digest]()],
		"prev": d.refs[typeOf[sayso.Digest]()], "hash": d.refs[typeOf[sayso.Digest]()],
	}}
	e.Required = slices.Sorted(maps.Keys(e.Properties))
	for _, t := range sayso.EventTypes() {
		s, err := d.payload(t)
		if err != nil {
			return err
		}
		if s != nil {
			e.AllOf = append(e.AllOf, &jsonschema.Schema{If: property("type", &jsonschema.Schema{Const: new(any(string(t)))}), Then: property("payload", s)})
		}
	}
	d.schemas["Event"] = e
	return nil
}

func property(name string, s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{name: s}}
}

func noSchema() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// payload is the schema of the payload of one type of event.
func (d *documentBuilder) payload(t sayso.EventType) (*jsonschema.Schema, error) {
	if t == sayso.EventRequested {
		return d.refs[typeOf[sayso.Request]()], nil
	}
	p, ok := payloads[t]
	if !ok {
		return nil, nil
	}
	s, err := d.schemaOf(p.fixed)
	if err != nil || p.erasable == nil {
		return s, err
	}
	more, err := d.schemaOf(p.erasable)
	if err != nil {
		return nil, err
	}
	maps.Copy(s.Properties, more.Properties)
	s.PropertyOrder = append(s.PropertyOrder, more.PropertyOrder...)
	return s, nil
}
