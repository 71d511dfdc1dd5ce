# sayso: what you can type. `make help` lists it.

GO      ?= go
BUILDFLAGS := -trimpath
BIN     := bin
PREFIX  ?= $(HOME)/.local
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X github.com/sayso-dev/sayso/internal/version.Version=$(VERSION)
SOURCES := $(shell find . -name '*.go' -not -path './tools/*' -not -name '*_test.go' 2>/dev/null) go.mod go.sum

.PHONY: help
help: ## list what you can type
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

.PHONY: demo
demo: build ## see a call stopped, answered and run, on a temporary database
	@$(BIN)/sayso demo

.PHONY: build
build: $(BIN)/sayso $(BIN)/sayso-hook ## build both programs into bin/

$(BIN)/%: $(SOURCES)
	@mkdir -p $(BIN)
	CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -ldflags '$(LDFLAGS)' -o $@ ./cmd/$*

.PHONY: install
install: build ## install both programs into ~/.local/bin
	@mkdir -p $(PREFIX)/bin
	install -m 0755 $(BIN)/sayso $(BIN)/sayso-hook $(PREFIX)/bin/

.PHONY: test
test: ## fetch what the tests need, then run them all with the race detector
	@./.ci/test

.PHONY: lint
lint: ## formatting, vet on both systems, staticcheck
	@./.ci/lint

.PHONY: bench
bench: ## measure every figure of docs/performance.md beside its limit
	@$(GO) run ./bench

.PHONY: soak
soak: ## kills, races and fuzzing by the thousand; takes hours
	@./.ci/soak

.PHONY: fuzz
fuzz: ## ten seconds for each fuzz target (FUZZTIME=1m for longer)
	@./.ci/fuzz

.PHONY: generate
generate: ## write docs/openapi.json and the texts that the docs quote anew
	@$(GO) generate ./...

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BIN)
