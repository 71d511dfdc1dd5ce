// Package opencode reads what opencode tells of its calls and writes what it
// understands.
//
// opencode has no hooks of its own that start programs. It loads plugins: files
// of JavaScript that run inside of it. The one that `sayso init opencode` puts
// into place asks before each tool and tells what became of it, by starting our
// hook with one JSON object on its standard input; see package internal/install.
// That object is made by the plugin, so its members are ours; the tool, its
// arguments and the ids are as the host has them.
//
// The host also asks for permission by itself, as an event of its server. What
// it asks for is a part of a call at most (one of the commands of a line, the
// folder of a file), so that whoever answers looks up the call that is meant;
// see [Permission].
//
// # Which way it fails
//
// A plugin that throws blocks its call, and what it throws is told the model. So
// everything but an answer that says to go on is thrown: a hook that is missing,
// crashes, runs past its time or says something unreadable. What lets calls RUN
// is a plugin that is not loaded: opencode says so in its log, and goes on
// without.
//
// An allow does not skip the host's own permissions. Where these ask, whoever
// sits at the host is asked again, and without a terminal that is a no.
package opencode
