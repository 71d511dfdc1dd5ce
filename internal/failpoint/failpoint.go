// Package failpoint marks the places where a test may kill the process.
//
// A place calls [Hit] with its name. In an ordinary build that does nothing
// and is compiled away. Built with the tag failpoint, the process kills itself
// with SIGKILL, so that nothing of it is left to tidy up, when a place is
// reached for the n-th time:
//
//	SAYSO_FAILPOINT="append.before-commit:3,append.after-wake:1"
//
// SAYSO_FAILPOINT_COUNTERS names a file to which each hit appends one line, the
// name of the place, so that a test can see which places were reached and how
// often, by all processes together.
package failpoint
