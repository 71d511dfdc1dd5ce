// Package down holds the tests of what happens when something is down. Each row
// of the tables in README.md and docs/guide.md is one, named by the first cell
// of the row: the programs are driven into that state, and what the agent is
// told, what the person sees and what the person can type must be what the row
// says.
package down
