// Package readme holds the test that does what the README says, in an empty
// folder, from clone to first decision.
package readme
