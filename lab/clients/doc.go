// Package clients tests the clients for other languages: the same promises that
// the Go client keeps, case by case, through a process that does what it is told
// by lines of JSON; a server that is killed and comes back; and servers that
// answer what no server should.
package clients
