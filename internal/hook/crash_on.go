//go:build failpoint

package hook

// crash panics with the text of SAYSO_HOOK_PANIC, for the tests of what a host
// makes of a hook that crashes.
func crash(env Env) {
	if text := lookup(env.Environ)("SAYSO_HOOK_PANIC"); text != "" {
		panic(text)
	}
}
