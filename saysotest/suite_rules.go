package saysotest

import (
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

var _ = promised(
	promise{"Grants", grants},
	promise{"Grants/their ends", grantEnds},
	promise{"Policies", policies},
	promise{"Mode", modes},
	promise{"Explain", explain},
)

// remembered has a call asked about and remembered.
func (h *house) remembered(id, what string, change func(*sayso.Answer)) sayso.Grant {
	h.Helper()
	w, r := h.opened(atOnce(asks(id, what)))
	a := answer(r, sayso.Allow)
	a.Scope = sayso.ScopeSession
	if change != nil {
		change(&a)
	}
	_, err := h.owner.Answer(h.ctx, r.ID, a)
	h.must(err)
	_, err = w.result()
	h.must(err)
	gs, err := h.owner.Grants(h.ctx, "s1", false)
	h.must(err)
	for _, g := range gs {
		if g.Request == r.ID {
			return g
		}
	}
	h.Fatalf("no grant of %s is listed", r.ID)
	return sayso.Grant{}
}

// silent reports whether a call passes without anybody being asked.
func (h *house) silent(id, what string) bool {
	h.Helper()
	d, err := h.now(atOnce(impatient(asks(id, what))))
	if err != nil && !errors.Is(err, sayso.ErrPending) {
		h.Fatal(err)
	}
	if d.Redeemed && d.Source != sayso.SourceGrant {
		h.Errorf("it passed by %s", d.Source)
	}
	return d.Redeemed
}

func grants(h *house) {
	g := h.remembered("c1", "make", nil)
	if g.SessionID != "s1" || g.By.Principal != "owner" || g.Cover != sayso.CoverCall || g.Tool != toolAsks || g.Ended != "" ||
		g.ShortID != g.ID.Short() || g.ExpiresAt != nil || g.LastUsed != nil {
		h.Errorf("the grant is %+v", g)
	}
	if !h.silent("c2", "make") || h.silent("c3", "make install") {
		h.Error("the grant covers something else than its call")
	}
	gs, err := h.owner.Grants(h.ctx, "", false)
	if err != nil || len(gs) != 1 || gs[0].Uses != 1 || gs[0].LastUsed == nil {
		h.Errorf("after its use: %+v, %v", gs, err)
	}
	if gs, err := h.inbox(suiteStranger).Grants(h.ctx, "", true); err != nil || len(gs) != 0 {
		h.Errorf("a stranger sees %+v, %v", gs, err)
	}
	h.want("a stranger", h.inbox(suiteStranger).Revoke(h.ctx, g.ID), sayso.ErrNotAllowed)
	h.want("a viewer", h.inbox(suiteLooker).Revoke(h.ctx, g.ID), sayso.ErrNotAllowed)
	h.want("nothing", h.owner.Revoke(h.ctx, sayso.NewID(time.Now(), [16]byte{1})), sayso.ErrNotFound)
	h.must(h.inbox(suiteHelper).Revoke(h.ctx, g.ID))
	h.must(h.owner.Revoke(h.ctx, g.ID))
	if gs, err := h.owner.Grants(h.ctx, "", false); err != nil || len(gs) != 0 {
		h.Errorf("after it was revoked: %+v, %v", gs, err)
	}
	if gs, err := h.owner.Grants(h.ctx, "", true); err != nil || len(gs) != 1 || gs[0].Ended != "revoked" {
		h.Errorf("among all: %+v, %v", gs, err)
	}
	if h.silent("c4", "make") {
		h.Error("it was used after it was revoked")
	}
}

func grantEnds(h *house) {
	h.remembered("c1", "make 1", func(a *sayso.Answer) { a.Uses = 1 })
	if !h.silent("c2", "make 1") || h.silent("c3", "make 1") {
		h.Error("a grant for one use was not for one use")
	}
	h.remembered("d1", "make 2", nil)
	h.must(h.agent.End(h.ctx, "s1"))
	if h.silent("d2", "make 2") {
		h.Error("a grant outlived its session")
	}
	g := h.remembered("e1", "make 3", func(a *sayso.Answer) { a.For = time.Hour })
	if g.ExpiresAt == nil || g.ExpiresAt.Sub(g.CreatedAt) != time.Hour {
		h.Errorf("it ends at %v", g.ExpiresAt)
	}
	if !h.silent("e2", "make 3") {
		h.Error("it ended early")
	}
	h.policy.setVersion("v2")
	if h.silent("e3", "make 3") {
		h.Error("a grant outlived its policy")
	}
}

func policies(h *house) {
	h.must(h.agent.Begin(h.ctx, "s1", ""))
	got, err := h.owner.Policies(h.ctx, "s1")
	if err != nil || len(got) != 0 {
		h.Errorf("at first: %v, %v", got, err)
	}
	h.must(h.owner.SetPolicies(h.ctx, "s1", map[string]sayso.Effect{toolAsks: sayso.Allow, toolAllowed: sayso.Deny}))
	got, err = h.inbox(suiteHelper).Policies(h.ctx, "s1")
	if err != nil || fmt.Sprint(got) != "map[bash:allow file-read:deny]" {
		h.Errorf("then: %v, %v", got, err)
	}
	for id, want := range map[string]sayso.Effect{toolAsks: sayso.Allow, toolAllowed: sayso.Deny, toolDenied: sayso.Deny} {
		if d, err := h.now(sayso.Admission{Call: call(id, id, "a")}); err != nil || d.Effect != want {
			h.Errorf("%s: got %+v, %v, want %s", id, d, err, want)
		}
	}
	h.must(h.owner.SetPolicies(h.ctx, "s1", map[string]sayso.Effect{}))
	if d, err := h.now(sayso.Admission{Call: call(toolAllowed, "c9", "a")}); err != nil || !d.Allowed() {
		h.Errorf("at last: %+v, %v", d, err)
	}
	_, err = h.inbox(suiteStranger).Policies(h.ctx, "s1")
	h.want("a stranger reads", err, sayso.ErrNotAllowed)
	h.want("a stranger sets", h.inbox(suiteStranger).SetPolicies(h.ctx, "s1", nil), sayso.ErrNotAllowed)
	h.want("no name", h.owner.SetPolicies(h.ctx, "s1", map[string]sayso.Effect{"": sayso.Deny}), sayso.ErrInvalid)
}

func modes(h *house) {
	h.must(h.agent.Begin(h.ctx, "s1", ""))
	boss := h.inbox(suiteAdmin)
	mode := func(session string, want sayso.Mode) {
		h.Helper()
		if m, err := boss.Mode(h.ctx, session); err != nil || m.Mode != want {
			h.Errorf("the mode of %q is %+v, %v, want %s", session, m, err, want)
		}
	}
	mode("", sayso.ModeInteractive)
	h.want("approve_all without an end", h.owner.SetMode(h.ctx, "s1", sayso.ModeApproveAll, 0), sayso.ErrInvalid)
	h.want("no mode", h.owner.SetMode(h.ctx, "s1", "yolo", time.Hour), sayso.ErrInvalid)
	h.want("a person, for all", h.owner.SetMode(h.ctx, "", sayso.ModeStrict, 0), sayso.ErrNotAllowed)
	h.want("a stranger", h.inbox(suiteStranger).SetMode(h.ctx, "s1", sayso.ModeStrict, 0), sayso.ErrNotAllowed)
	h.must(h.owner.SetMode(h.ctx, "s1", sayso.ModeApproveAll, time.Hour))
	mode("s1", sayso.ModeApproveAll)
	mode("", sayso.ModeInteractive)
	if m, err := h.owner.Mode(h.ctx, "s1"); err != nil || m.Left <= 0 || m.Left > time.Hour {
		h.Errorf("it lasts %v, %v", m.Left, err)
	}
	if d, err := h.now(asks("c1", "make")); err != nil || !d.Allowed() || d.Source != sayso.SourceMode || d.Mode != sayso.ModeApproveAll {
		h.Errorf("approve_all: got %+v, %v", d, err)
	}
	if d, err := h.now(asks("c2", "make --force")); err != nil || d.Effect != sayso.Deny {
		h.Errorf("approve_all of a denial: got %+v, %v", d, err)
	}
	h.must(h.owner.SetMode(h.ctx, "s1", sayso.ModeStrict, 0))
	if d, err := h.now(asks("c3", "make")); err != nil || d.Effect != sayso.Deny || d.Source != sayso.SourceMode {
		h.Errorf("strict: got %+v, %v", d, err)
	}
	h.must(h.owner.SetMode(h.ctx, "s1", sayso.ModeInteractive, 0))
	h.must(boss.SetMode(h.ctx, "", sayso.ModeStrict, time.Hour))
	if d, err := h.now(asks("c4", "make")); err != nil || d.Effect != sayso.Deny {
		h.Errorf("strict for all: got %+v, %v", d, err)
	}
}

func explain(h *house) {
	for tool, want := range map[string]sayso.Effect{toolAsks: sayso.Ask, toolAllowed: sayso.Allow, toolDenied: sayso.Deny} {
		v, err := h.owner.Explain(h.ctx, call(tool, "", "a"), sayso.Facts{})
		if err != nil || v.Effect != want || v.Rule != "for tests" || v.File != "saysotest" || v.Line != 1 {
			h.Errorf("%s: got %+v, %v", tool, v, err)
		}
	}
	_, err := h.owner.Explain(h.ctx, sayso.Call{}, sayso.Facts{})
	h.want("no call", err, sayso.ErrInvalid)
	if head, err := h.owner.Head(h.ctx); err != nil || head.Seq != 0 {
		h.Errorf("it recorded something: %+v, %v", head, err)
	}
}
