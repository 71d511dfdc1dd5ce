package home

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/filelock"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// RepoPolicy is where a project keeps its own policy, from the project's root.
const RepoPolicy = ".sayso/policy.yaml"

// Trusted is the policy file of a project, as a person accepted it. What was
// accepted stays in force whatever becomes of the file: who may change the
// project must not be able to take its denials away.
type Trusted struct {
	Workspace string       `json:"workspace"` // with links followed
	Digest    sayso.Digest `json:"digest"`    // of the text
	Text      string       `json:"text"`
	By        string       `json:"by"`
	At        time.Time    `json:"at"`
}

// File is where the project has the file.
func (t Trusted) File() string { return filepath.Join(t.Workspace, RepoPolicy) }

// TrustedList holds the policy files of projects that a person accepted.
func (p Paths) TrustedList() string { return filepath.Join(p.State, "trusted.json") }

// trustedFile is what stands in the file.
type trustedFile struct {
	Projects []Trusted `json:"projects"`
}

// Trusted returns the policy files of projects that a person accepted, each
// with the text of its digest.
func (p Paths) Trusted() ([]Trusted, error) {
	text, err := Read(p.TrustedList())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var f trustedFile
	if err := jcs.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", p.TrustedList(), err)
	}
	for _, t := range f.Projects {
		if t.Digest != PolicyDigest([]byte(t.Text)) || !filepath.IsAbs(t.Workspace) {
			return nil, fmt.Errorf("%s: the text for %s is not the one that was accepted", p.TrustedList(), t.Workspace)
		}
	}
	return f.Projects, nil
}

// PolicyDigest identifies the bytes of a project's policy file.
func PolicyDigest(text []byte) sayso.Digest { return sayso.HashOf("sayso/project policy/1", text) }

// Trust accepts the policy file of a project, instead of what was accepted
// before. An empty text takes it back.
func (p Paths) Trust(t Trusted) error {
	if err := p.Make(); err != nil {
		return err
	}
	alone, err := filelock.Wait(p.TrustedList()+".lock", filelock.Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = alone.Close() }() // nothing was written to it
	list, err := p.Trusted()
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(old Trusted) bool { return old.Workspace == t.Workspace })
	if t.Text != "" {
		t.Digest = PolicyDigest([]byte(t.Text))
		list = append(list, t)
	}
	text, err := jcs.Marshal(trustedFile{list})
	if err != nil {
		return err
	}
	return Write(p.TrustedList(), append(text, '\n'))
}
