package shell_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// TestSH4_spellings: what means the same is found by the same words.
func TestSH4_spellings(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"rm -Rf x", "rm -rf x"},
		{"rm --recursive --force x", "rm -r -f x"},
		{"rm --recurs x", "rm -r x"},
		{"/bin/rm -R x", "/bin/rm -r x"},
		{"git commit --no-verify -m x", "git commit -n -m x"},
		{"git -C a push --force", "git -C a push -f"},
		{"git branch -vD x", "git branch -vdf x"},
		{"git-push --force", "git push -f"},
		{"/usr/lib/git-core/git-push x", "git push x"},
		{"git remote rm x", "git remote remove x"},
		{"npm i x", "npm install x"},
		{"npm -C a i x", "npm -C a install x"},
		{"npm rm -g x", "npm uninstall -g x"},
		{"docker container run x", "docker run x"},
		{"docker --debug container rm x", "docker --debug rm x"},
		{"docker image rm x", "docker rmi x"},
		{"python -m pip install x", "pip install x"},
		{"python3 -I -m pip install x", "pip install x; python -I -m pip install x"},
		{"python3 -mpip install x", "pip install x; python -mpip install x"},
		{"python -Impip install x", "pip install x"},
		{"python -Wdefault -X dev -mpip install x", "pip install x"},
		{"python --check-hash-based-pycs always -m pip install x", "pip install x"},
		{"python -Xm pip", ""},
		{"python -cm pip", ""},
		{"python x.py -mpip", ""},
		{"grm -R x", "grm -r x; rm -r x"},
		{"gtee x", "tee x"},
		{"git send-pack --force x", "git push -f x"},
		{"git http-push x", "git push x"},
		{"git-http-push x", "git push x"},
		{"python3.12 x.py", "python3 x.py; python x.py"},
		{"pip3 install x", "pip install x"},
		{"g++-12 x", "g++ x"},
		{"ls -R", ""},
		{"rm x", ""},
		{"rm -- -R", ""},
		{"git status", ""},
		{"lsof", ""},
		{"rmdir x", ""},
		{"npm run i", ""},
		{"npm install --location=global x", "npm install -g x"},
		{"npm install --location global x", "npm install -g x"},
		{"npm install --loc=global x", "npm install -g x"},
		{"npm install --location=project x", ""},
		{"npm install --location project x", ""},
		{"git push origin +main", "git push -f origin main"},
		{"git -C a push origin +main:x", "git -C a push -f origin main:x"},
		{"git push --force-with-lease=x y", "git push -f y"},
		{"git push --mirror", "git push -f"},
		{"git push origin :main", "git push -d origin main"},
		{"git push origin main:x", ""},
		{"git log +x", ""},
	} {
		l := shell.Inspect(c.line)
		var got []string
		for _, s := range l.Commands[0].Spellings() {
			var words []string
			for _, w := range s.Words() {
				words = append(words, w.Text)
			}
			got = append(got, strings.Join(words, " "))
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%q: spelled %q, want %q", c.line, got, c.want)
		}
	}
}
