// Package install puts our hook into the settings of a host, and takes it out.
//
// A person's settings are theirs: an edit changes the bytes it must change and
// no others, so that order, indentation and everything unknown to us stay as
// they were. Taking the hook out removes what is ours, wherever it stands by
// then, and needs nothing but the file: it works when all else is broken.
//
// Each host is a [Host], in a file of its own: where its settings are, what is put
// into them and taken out, and what a survey finds there. Most differ in no more than
// a format. Where a host starts MCP servers, it is a [Client]: the servers of its list
// are put behind the gate in the same careful way.
package install
