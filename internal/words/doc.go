// Package words says requests, answers, grants and events in words, for every
// place that shows them in a terminal. What it returns is safe to show there,
// save for a [present.View], which package present makes safe.
package words
