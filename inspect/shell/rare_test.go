package shell_test

import (
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// TestSH8_rareOptions: what seldom stands in a line runs programs, writes, or
// brings code from elsewhere all the same, and what looks like it does not.
func TestSH8_rareOptions(t *testing.T) {
	tests := []struct {
		text   string
		beyond bool
	}{
		// Files of options.
		{"nm @opts", true}, {"objdump -d @opts", true}, {"readelf @o", true}, {"size @o", true}, {"strings @o", true}, {"gcc @o", true}, {"ld @o", true}, {"ar @o", true},
		{"javac @o", true}, {"rustc @o", true}, {"tsc @o", true}, {"pytest @o", true}, {"python -m pytest @o", true}, {"nm a.out", false}, {"nm @", false}, {"strings a@b", false},
		// Programs that an option names.
		{"cloc --vcs=sh .", true}, {"cloc --vcs sh .", true}, {"cloc --vcs=git .", false}, {"cloc --config x .", true}, {"cloc --strip-comments=x .", true}, {"cloc --strip-code x .", true},
		{"cloc --by-file src", false}, {"actionlint -shellcheck ./x", true}, {"actionlint -pyflakes=./x", true}, {"actionlint -shellcheck= x.yml", false}, {"actionlint -shellcheck=shellcheck x.yml", false},
		{"actionlint --shellcheck x", true}, {"actionlint .github/workflows/ci.yml", false}, {"scc --format-multi json:out .", true}, {"scc -f json .", false},
		{"yq --security-enable-system-operator .x f", true}, {"yq .x f", false},
		// Code and texts from elsewhere.
		{"uv run --with evil pytest", true}, {"uv run --with=evil pytest", true}, {"uv run --index-url http://x pytest", true}, {"uv run --directory ../x pytest", false}, {"uv run -q pytest", false},
		{"xmllint http://x/y", true}, {"xmllint --schema=http://x/y z", true}, {"xmllint --schema ftp://x/y z", true}, {"xmllint --xpath '//a[@b=\"http://x\"]' y", false}, {"xmllint --noout y.xml", false},
		{"go tool pprof http://x/y", true}, {"go tool pprof cpu.out", false}, {"buf build https://x/y.git", true},
		// Options of tests.
		{"go test -test.testlogfile=x ./...", true}, {"go test ./... -args -test.testlogfile x", true}, {"go test --test.cpuprofile=x .", true}, {"go test . -test.v", false}, {"go test -args --output x", false},
		{"go tool pprof -tools x cpu.out", true}, {"go test -run 'TestA/http://x' ./...", false},
		{"pytest -p evil", true}, {"pytest -p no:cacheprovider", false}, {"pytest -pevil", true}, {"pytest -c x", true}, {"pytest --junitxml=/x", true}, {"pytest --pastebin=all", false}, {"pytest -q -x tests", false},
		{"pytest -o addopts=-pevil", true}, {"pytest -o log_cli=true", false}, {"ctest -S x", true}, {"ctest -C Release", false}, {"rspec -r ./x", true}, {"rspec spec", false}, {"phpunit --bootstrap x", true},
		{"mocha --require ./x", true}, {"ginkgo --toolexec=sh", true}, {"stack build --exec sh", true}, {"mix test -r x", true}, {"coverage html -d x", true}, {"pylint --init-hook=x y", true}, {"npm test --node-options=-rx", true},
		// Another build file, or goals that are programs.
		{"ninja -f x", true}, {"ninja -j 4 all", false}, {"gradle -I x test", true}, {"gradle -b x test", true}, {"gradle test --tests X", false}, {"gradle test -Pa=b -Dc=d", false}, {"./gradlew --init-script=x test", true},
		{"mvn -f x test", true}, {"mvn -s x test", true}, {"mvn -gs x test", true}, {"mvn --file=x test", true}, {"mvn test -Dtest=Foo", false}, {"mvn -fae -am -o test", false}, {"mvn -T 4 -pl a test", false},
		{"mvn test -Dexec.executable=sh", true}, {"mvn test exec:exec", true}, {"mvn test a.b:c:1:d", true}, {"mvn dependency:tree", false}, {"ant -f x", true}, {"ant -buildfile x", true}, {"ant -Da=b test", false},
		{"task -t x test", true}, {"task --taskfile=x test", true}, {"task test A=sh", true}, {"task test", false}, {"just -f x", true}, {"make -f x", true}, {"rake -f x", true},
		{"cmake -DCMAKE_C_COMPILER=./x .", true}, {"cmake -D CMAKE_CXX_COMPILER_LAUNCHER=./x .", true}, {"cmake -DCMAKE_C_COMPILER=clang .", false}, {"cmake -DCMAKE_BUILD_TYPE=Release -B build", false}, {"cmake -C x .", true},
		{"cmake --build build -- SHELL=./x", true}, {"cmake --build build -j 4", false}, {"sbt 'set a := b' test", true}, {"sbt test 'eval 1'", true}, {"sbt 'testOnly a.B'", false},
	}
	for _, tt := range tests {
		l := shell.Inspect(tt.text)
		if got := len(l.Commands) > 0 && l.Commands[0].Beyond() != nil; got != tt.beyond {
			t.Errorf("Inspect(%q): outside an allow: %v, want %v", tt.text, got, tt.beyond)
		}
	}
}
