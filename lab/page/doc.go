// Package page tests the web page as people use it: in a real browser, over a
// real server, with real requests. The stories themselves are in web/ui/e2e.
package page
