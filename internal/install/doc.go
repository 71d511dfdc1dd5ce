// Package install puts our hook into the settings of a host, and takes it out.
//
// A person's settings are theirs: an edit changes the bytes it must change and
// no others, so that order, indentation and everything unknown to us stay as
// they were. Taking the hook out removes what is ours, wherever it stands by
// then, and needs nothing but the file: it works when all else is broken.
package install
