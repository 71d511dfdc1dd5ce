// Package home knows where everything of ours lies on a machine: the folders,
// the settings and their sources, the tokens, and the two switches, off and
// lock, that must work when all else is broken.
//
// Folders are 0700 and files 0600; the policy, which is no secret, others may
// read but not write. What is open further is refused, never repaired: a mode
// that is wrong now may have been wrong for long, and the person should know.
//
// The package reads and writes small files and nothing else, because the hook,
// which starts on every call of an agent, leans on it.
package home
