package opencode

// Said are the fields that the model writes about its calls, by tool.
var Said = said
