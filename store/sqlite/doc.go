// Package sqlite keeps the log in one SQLite file that any number of processes
// use at once. It is the default engine: nothing has to be configured or
// started.
//
// # Promises
//
// What Append returned nil for is on stable storage (write-ahead log,
// synchronous=FULL). Each process has one writer, which takes whatever waits
// when a commit is over and commits it as one group; a batch that conflicts
// fails alone, an error of the disk fails the group. The head of the log is read
// again inside every transaction, so processes cannot fork the chain, and
// seqs follow the order of commits.
//
// Triggers refuse to change or remove events; partial unique indexes refuse a
// second decision or a second spending of one stream, whatever the code does.
// Rows of requests and grants are projections, written in the same transaction
// as the events they follow from; see [Log.Rebuild].
//
// # Files
//
// The database, its -wal and -shm files, the folder leases with one lock file
// for each living waiter, and the folder segments with the parts of the log
// that [Log.Archive] moved away. The folder must be 0700 and ours, the files
// 0600, the file system a local one.
package sqlite
