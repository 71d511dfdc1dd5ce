// Package e2e holds the tests of the main job with everything real: the Claude
// Code binary, its settings as `sayso init` writes them, our hook, our
// database, our commands. Only the model is a script.
package e2e
