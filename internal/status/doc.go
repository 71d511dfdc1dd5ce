// Package status is what is told of a gate as a whole: how often people are
// asked and by what, what waits, and whether agents are wired. It counts here
// alone, so that a command, a page and the API tell the same figures.
package status
