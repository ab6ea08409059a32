# make demo   build the reference plugins, compact a long session, show what happened
# make test   all tests, the long ones in part
# make check  what has to hold before a change lands
# make bench  the benchmarks of BENCHMARKS.md
# make soak   what takes hours: the long tests in full, every recorded session through every strategy
# make npm    what tests of plugins in AssemblyScript compile with
# make npm-client  the client of Hindsight that tests ask for a second opinion
# make npm-agents  the agents that plugs are tested with, pinned
# make npm-agents-next  those of them that bring a newer Node, 1 GB
# make npm-sdks    the official SDKs that the proxy is tested with, pinned
# make test-agents the plugs in those agents
# make oracle the official SDKs judge what package models sends and reads
# make compare the same work by what people would take in its place, in BENCHMARKS.md
# make man    manual pages of the command, in build/man
# make release  archives for all platforms, in build/release, with checksums
# make features  all tests, and docs/features.md of what they prove

GO      ?= go
BUILD   := build
KW      := $(BUILD)/kagewasm
PLUGINS := $(BUILD)/markdown.wasm $(BUILD)/keeper.wasm $(BUILD)/hindsight.wasm
SOURCES := $(shell find . -name '*.go' -not -path './$(BUILD)/*') $(shell find kit/scaffold -type f) go.mod go.sum

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: all man release npm npm-client npm-sdks compare npm-agents npm-agents-next test-agents demo test oracle soak features race check bench plugins generate clean
all: $(KW) plugins

# SQLite is one package of 8 MB, which the compiler takes 830 MB for where nothing bounds it: bounded it takes 610.
# Below the bound it collects garbage a third as often, which saves a seventh of a cold build. The linker keeps to 690 so.
# They are not set for tests, whose commands would inherit them.
LEAN := GOMEMLIMIT=560MiB GOGC=300
$(KW): $(SOURCES)
	$(LEAN) $(GO) build -o $@ ./cmd/kagewasm

plugins: $(PLUGINS)

$(BUILD)/%.wasm: $(KW) $(SOURCES) plugins/%/plugin.yaml
	$(KW) build plugins/$* -o $@

man: $(KW)
	$(KW) help man $(BUILD)/man

# The same commit gives the same bytes. PLATFORMS=host is this one alone.
PLATFORMS := linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64
release:
	$(GO) run ./internal/release -out $(BUILD)/release -platforms $(PLATFORMS)

# The demo keeps its state in a folder of its own, and starts from nothing.
demo: $(KW) $(PLUGINS)
	@rm -rf $(BUILD)/demo && mkdir -p $(BUILD)/demo
	@echo
	@echo "== 1. a session of an afternoon, a window of 32,000 tokens, the markdown memory watching"
	@$(KW) compact testdata/demo.jsonl --window 32000 --plugin $(BUILD)/markdown.wasm --state $(BUILD)/demo/state \
		--out $(BUILD)/demo/markdown.jsonl --report $(BUILD)/demo/markdown.json
	@echo
	@echo "== 2. what the plugin remembers, as files you can read and edit"
	@$(KW) memory export markdown $(BUILD)/demo/notes --state $(BUILD)/demo/state | head -1
	@cd $(BUILD)/demo/notes && ls . memory && echo && head -12 MEMORY.md
	@echo
	@echo "== 3. the same session, hindsight making the cut; what was said stays in its memory"
	@$(KW) compact testdata/demo.jsonl --window 32000 --plugin $(BUILD)/hindsight.wasm --state $(BUILD)/demo/state \
		--out $(BUILD)/demo/hindsight.jsonl --report $(BUILD)/demo/hindsight.json
	@echo
	@echo "== 4. again on its own result: nothing to do"
	@$(KW) compact $(BUILD)/demo/hindsight.jsonl --window 32000 --plugin $(BUILD)/hindsight.wasm --state $(BUILD)/demo/state \
		--out $(BUILD)/demo/again.jsonl && cmp $(BUILD)/demo/hindsight.jsonl $(BUILD)/demo/again.jsonl && echo "identical, byte for byte"

# Tests and the linker live for seconds: to collect garbage a quarter as often saves a
# seventh of the processor's time. Cases drawn at random are the same ones each time: whether
# a change is sound is no matter of luck. make soak draws others.
# Some packages wait for timers: one more of them than there are processors keeps these busy.
AT_ONCE = $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 3) + 1 ))
test:
	@$(LEAN) $(GO) build modernc.org/sqlite/lib
	RAPID_SEED=$${RAPID_SEED:-20261123} GOGC=400 $(GO) test -p $(AT_ONCE) -timeout 35m $(TESTFLAGS) ./...

# A module of its own: nothing else downloads the SDKs.
oracle:
	cd internal/oracle && $(GO) vet . && $(GO) test -count=1 .

# Half of an installation would look like a whole one the next time.
OR_NONE = || { rm -rf $@; exit 1; }

# Packages as the lock file of a new plugin names them.
TEMPLATE := kit/scaffold/ts/common
npm: $(BUILD)/npm/node_modules
$(BUILD)/npm/node_modules: $(TEMPLATE)/package.json $(TEMPLATE)/package-lock.json
	@mkdir -p $(BUILD)/npm && cp $^ $(BUILD)/npm/
	npm ci --no-audit --no-fund --prefix $(BUILD)/npm $(OR_NONE)
	@touch $@

# The official client of Hindsight, a second opinion on what speaks its API.
CLIENT := plugins/testdata/client
npm-client: $(CLIENT)/node_modules
$(CLIENT)/node_modules: $(CLIENT)/package.json $(CLIENT)/package-lock.json
	npm ci --no-audit --no-fund --ignore-scripts --prefix $(CLIENT) $(OR_NONE)
	@touch $@

# The agents that plugs are tested with. Their own scripts fetch or unpack the programs.
AGENTS := integrations/testdata/agents
npm-agents: $(BUILD)/agents/node_modules
$(BUILD)/agents/node_modules: $(AGENTS)/package.json
	@mkdir -p $(BUILD)/agents && cp $^ $(BUILD)/agents/
	npm install --no-audit --no-fund --ignore-scripts --prefix $(BUILD)/agents $(OR_NONE)
	(cd $(BUILD)/agents/node_modules/@anthropic-ai/claude-code && node install.cjs) $(OR_NONE)
	(cd $(BUILD)/agents/node_modules/opencode-ai && node postinstall.mjs) $(OR_NONE)
	@touch $@

# Those that want a newer Node than a machine may have bring one: npm has it. OpenClaw is 660 MB of 1 GB.
npm-agents-next: $(BUILD)/agents-next/node_modules
$(BUILD)/agents-next/node_modules: $(AGENTS)-next/package.json
	@mkdir -p $(BUILD)/agents-next && cp $^ $(BUILD)/agents-next/
	npm install --no-audit --no-fund --ignore-scripts --prefix $(BUILD)/agents-next $(OR_NONE)
	@touch $@

# The official SDKs in JavaScript, which judge the proxy.
SDKS := proxy/testdata/sdk
npm-sdks: $(BUILD)/sdks/node_modules
$(BUILD)/sdks/node_modules: $(SDKS)/package.json
	@mkdir -p $(BUILD)/sdks && cp $^ $(BUILD)/sdks/
	npm install --no-audit --no-fund --ignore-scripts --prefix $(BUILD)/sdks $(OR_NONE)
	@touch $@

test-agents: npm-agents npm-agents-next npm-sdks
	KAGEWASM_SOAK=1 KAGEWASM_REQUIRE=agents,agents-next $(GO) test -count=1 -timeout 30m ./integrations/...
	KAGEWASM_SOAK=ci KAGEWASM_REQUIRE=agents,agents-next,sdks $(GO) test -count=1 -timeout 30m ./proxy

# make test takes seconds of what takes long; KAGEWASM_SOAK=ci runs every test with
# reduced counts, and this all of it. Of the replays it prints the table.
soak:
	KAGEWASM_SOAK=1 $(GO) test -count=1 -timeout 3h $$($(GO) list ./... | grep -v internal/replay$$)
	KAGEWASM_SOAK=1 $(GO) test -count=1 -timeout 3h -v -run 'TestReplay$$' ./internal/replay | grep -v '^ *---\|^=== '

features:
	@mkdir -p $(BUILD)
	KAGEWASM_SOAK=ci $(GO) test -json ./... > $(BUILD)/tests.json || true # gen says which failed
	$(GO) run ./internal/features/gen < $(BUILD)/tests.json

# The race detector needs a C compiler.
RACE := . ./hooks/... ./strategies ./models ./config ./runtime/... ./store/... ./tokens/... ./firewall/... ./abi/... ./internal/strictjson
race:
	$(GO) test -race $(RACE)

check:
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	GOOS=wasip1 GOARCH=wasm $(GO) vet ./abi/... ./plugins/...
	$(GO) run $(STATICCHECK) ./...
	$(GO) mod tidy
	cd internal/oracle && $(GO) mod tidy && $(GO) vet .
	cd bench && $(GO) mod tidy && $(GO) vet . && $(GO) test . && $(GO) run . -render -tables ../BENCHMARKS.md -charts ../docs/bench
	$(GO) generate ./internal/schemagen
	$(GO) test ./internal/archtest/...
	@if $(GO) env CC | grep -q . && command -v "$$($(GO) env CC)" >/dev/null; then $(MAKE) race; else echo "no C compiler: the race detector is left out"; fi
	git diff --exit-code

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./... | grep -v '^ok\|^?\|no test files'

# Peers are a module and packages of their own: nothing else downloads them.
COMPARE := bench/node
compare: $(COMPARE)/node_modules
	cd bench && $(GO) run . -o results.json -tables ../BENCHMARKS.md -charts ../docs/bench
$(COMPARE)/node_modules: $(COMPARE)/package.json $(COMPARE)/package-lock.json
	npm ci --no-audit --no-fund --ignore-scripts --prefix $(COMPARE) $(OR_NONE)
	@touch $@

generate:
	$(GO) generate ./...

clean:
	rm -rf $(BUILD)
