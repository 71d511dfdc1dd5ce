//go:build !linux && !darwin

package agentproc

// look sees nothing here; the environment alone must do.
func look(int) (Process, bool) { return Process{}, false }
