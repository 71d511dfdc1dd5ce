// Package version knows which release this program is.
package version

// Version is the release, set when the program is linked; devel otherwise.
var Version = "devel"
