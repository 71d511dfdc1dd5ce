package path

import stdpath "path"

// Enter returns where a shell that stands in dir stands after cd was given the
// steps, one after the other: as cd does it unless it is told otherwise, a
// dot-dot removes the name in front of it, also where that is a link. It is
// empty if dir is not absolute and no step makes it so.
func Enter(dir string, steps []string) string {
	for _, step := range steps {
		switch {
		case step == "": // cd leaves things as they are
		case step[0] == '/':
			dir = stdpath.Clean(step)
		case dir != "":
			dir = stdpath.Clean(dir + "/" + step)
		}
	}
	if dir == "" || dir[0] != '/' {
		return ""
	}
	return dir
}
