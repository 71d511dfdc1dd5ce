package shell_test

import (
	"slices"
	"strings"
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
		{"tox -e py312", false}, {"tox run -e py", false}, {"meson devenv zap", false}, {"meson setup --native-file x build", true}, {"meson test -C build", false},
		{"bun test --preload ./x", true}, {"bun test", false}, {"go doc -http", true}, {"pnpm test --config.script-shell=x", true}, {"dotnet build -p:PreBuildEvent=x", true}, {"dotnet build -p:Configuration=Release", false},
		// Another build file, or goals that are programs.
		{"ninja -f x", true}, {"ninja -j 4 all", false}, {"gradle -I x test", true}, {"gradle -b x test", true}, {"gradle test --tests X", false}, {"gradle test -Pversion=b -Dfile.encoding=UTF-8", false}, {"./gradlew --init-script=x test", true},
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

// TestSH4_toolchains: a toolchain in front of the subcommand hides it from no
// denial, and what forces a push is a push by force.
func TestSH4_toolchains(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          shell.Fit
	}{
		{"cargo publish", "cargo +nightly publish", shell.Yes}, {"cargo publish", "cargo +nightly -q publish", shell.Yes}, {"cargo +nightly", "cargo +nightly test", shell.Yes},
		{"cargo publish", "cargo +publish test", shell.No}, {"cargo publish", "cargo test +nightly publish", shell.No},
	} {
		if got := shell.Inspect(c.text).Commands[0].Fits(strings.Fields(c.pattern), nil); got != c.want {
			t.Errorf("%q and %q: %v, want %v", c.pattern, c.text, got, c.want)
		}
	}
	if !shell.Inspect("cargo +nightly publish").Commands[0].Has(shell.Sends) {
		t.Error("cargo +nightly publish sends nothing")
	}
}

// TestSH6_loaders: the dynamic loaders and what is linked for itself are looked
// through by whatever name they have.
func TestSH6_loaders(t *testing.T) {
	for _, text := range []string{
		"ld64.so.2 zap", "/lib64/ld64.so.1 zap", "ld.so.1 zap", "ld-linux.so.2 zap", "busybox.static zap", "busybox-static zap", "busybox-armv7l zap", "toybox-x86_64 zap",
		"tox exec -- zap", "tox e -e py -- zap", "meson devenv zap", "meson devenv -C build zap",
		"entr -s zap", "entr -rs zap", "prlimit --nofile=4 zap",
	} {
		l := shell.Inspect(text)
		if !slices.ContainsFunc(l.Commands, func(c shell.Command) bool { return c.Program.Text == "zap" }) {
			t.Errorf("Inspect(%q): zap is not found: %v", text, written(l))
		}
	}
}
