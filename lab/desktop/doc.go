// Package desktop holds the tests of what only a person's own session shows: the
// notice that their desktop is asked for, over a real message bus, and the
// service that their systemd runs. The programs are those of this tree; the bus
// and systemd are those of the machine, started for each test.
package desktop
