package oauth

// Reachable is what a login may lead to.
var Reachable = reachable
