package opencode

// Host is the name of this host in calls, and what our hook is told of who
// starts it.
const Host = "opencode"

// Oldest is the first release that was seen to do what this package says.
const Oldest = "1.18.33"

// readBefore are the tools of which the host has read the arguments when it asks its
// plugins: what these change reaches nobody.
var readBefore = map[string]bool{"list_mcp_resources": true, "list_mcp_resource_templates": true, "read_mcp_resource": true}

// said are the fields that the model writes about its call and that do not
// change what runs. Releases before this one offered it; models still send it.
var said = map[string][]string{
	"bash": {"description"},
}
