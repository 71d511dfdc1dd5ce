# sayso: what you can type. `make help` lists it.

GO      ?= go
BUILDFLAGS := -trimpath
BIN     := bin
PREFIX  ?= $(HOME)/.local
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X github.com/sayso-dev/sayso/internal/version.Version=$(VERSION)
SOURCES := $(shell find . -name '*.go' -not -path './tools/*' -not -path './web/ui/*' -not -name '*_test.go' 2>/dev/null) go.mod go.sum
UI      := $(shell find web/ui -type f -not -path '*/node_modules/*' -not -path '*/e2e/*' -not -name schema.d.ts) docs/openapi.json
# The page needs Node to be built, and nothing else does. PAGE= leaves it out.
PAGE    := $(if $(shell command -v npm 2>/dev/null),web/dist/page/index.html)
# Without what it takes, the programs are built without the page; make web fails, and shows why.
ifeq ($(filter web,$(MAKECMDGOALS)),)
HUSH    := >/dev/null 2>&1
NOPAGE  := echo 'the page cannot be built now, and is left out; make web shows why' >&2
else
HUSH    := >/dev/null
NOPAGE  := exit 1
endif

.PHONY: help
help: ## list what you can type
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

.PHONY: demo
demo: build ## see a call stopped, answered and run, on a temporary database
	@trap : INT; $(BIN)/sayso demo || [ $$? = 1 ] # which is: stopped

.PHONY: build
build: $(BIN)/sayso $(BIN)/sayso-hook ## build both programs into bin/

$(BIN)/%: $(SOURCES) $(PAGE)
	@mkdir -p $(BIN)
	@[ '$*' != sayso ] || [ -n '$(PAGE)' ] || [ -f web/dist/page/index.html ] || echo 'no page in $@: for it, install Node 20 or newer, and type make build again' >&2
	@echo 'building $@; the first time takes a minute or two'
	@CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -ldflags '$(LDFLAGS)' -o $@ ./cmd/$*

.PHONY: web
web: web/dist/page/index.html ## build the page, which needs Node 20 or newer

web/dist/page/index.html: $(UI) web/ui/package-lock.json
	@{ node -e 'process.exit(+(parseInt(process.versions.node) < 20))' || { echo 'Node is missing, or older than 20' >&2; false; }; } $(HUSH) && \
	{ [ web/ui/node_modules/.package-lock.json -nt web/ui/package-lock.json ] || { \
		echo 'fetching what builds the page, once (PAGE= leaves it out)' && \
		npm --prefix web/ui ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=20000 $(HUSH) && \
		touch web/ui/node_modules/.package-lock.json; }; } && \
	npm --prefix web/ui run --silent build $(HUSH) && touch $@ || { $(NOPAGE); }

.PHONY: clients
clients: clients/typescript/dist/node.js ## build the client for TypeScript, which needs Node 20 or newer

TS := clients/typescript
$(TS)/dist/node.js: $(shell find clients/typescript/src -name '*.ts' -not -name schema.ts 2>/dev/null) $(wildcard $(TS)/*.json) docs/openapi.json
	@[ $(TS)/node_modules/.package-lock.json -nt $(TS)/package-lock.json ] || { \
		npm --prefix $(TS) ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=20000 >/dev/null && \
		touch $(TS)/node_modules/.package-lock.json; }
	@npm --prefix $(TS) run --silent build >/dev/null && touch $@

.PHONY: install
install: build ## install both programs into ~/.local/bin
	@mkdir -p $(PREFIX)/bin
	install -m 0755 $(BIN)/sayso $(BIN)/sayso-hook $(PREFIX)/bin/
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo 'note: $(PREFIX)/bin is not in PATH; type: export PATH="$(PREFIX)/bin:$$PATH"' ;; esac

.PHONY: test
test: ## fetch what the tests need, then run them all with the race detector
	@./.ci/test

.PHONY: lint
lint: ## formatting, vet on both systems, staticcheck
	@./.ci/lint

.PHONY: bench
bench: $(PAGE) ## measure every figure of docs/performance.md beside its limit
	@$(GO) run ./bench

.PHONY: lab
lab: ## drive the real hosts, and write docs/hosts.md (HOST=gemini for one)
	@$(GO) test ./lab/hosts -count=1 -timeout 40m -args -real -update $(if $(HOST),-host $(HOST))
	@$(GO) test ./lab/hosts -count=1 -run TestDocs -args -update

.PHONY: soak
soak: ## kills, races and fuzzing by the thousand; takes hours
	@./.ci/soak

.PHONY: fuzz
fuzz: ## ten seconds for each fuzz target (FUZZTIME=1m for longer)
	@./.ci/fuzz

.PHONY: generate
generate: ## write docs/openapi.json and the texts that the docs quote anew
	@$(GO) generate ./...

.PHONY: shots
shots: ## take the pictures of the README and the guide anew
	@$(GO) test ./lab/page -count=1 -run TestShots -shots

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BIN) web/dist/page web/ui/node_modules $(TS)/dist $(TS)/node_modules
