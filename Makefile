# Targets install what they need. `make help` lists them.

GO      ?= go
BIN     := bin
BUILD   := .build
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X github.com/seed256f7767/spade/internal/observe.version=$(VERSION)
# Packages under test start servers and sandboxed children: more of them at once than cores only makes each slower.
PARALLEL ?= 2
# A race-instrumented binary takes several times the time and memory, so `make race` takes the packages that share memory
# between goroutines; `make race RACE=./...` takes them all.
RACE    ?= ./internal/... ./consumers/... ./producers/... ./plugins/... ./schemas/... ./cmd/...
FUZZTIME ?= 10s
# The packages whose fuzz targets `make fuzz` runs.
FUZZ    ?= ./...
PYTHON  ?= python3

.DEFAULT_GOAL := help
.PHONY: help build engine test race lint fmt generate check-generated fuzz bench bench-learn chaos chaos-kills demo test-clients test-envs check-deploy test-kafka clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/spade and bin/spade-plugin-native
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/spade ./cmd/spade
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/spade-plugin-native ./plugins/native
	@echo built $(BIN)/spade and $(BIN)/spade-plugin-native

engine: build ## install the embedded ClickHouse engine, once a machine
	@$(BIN)/spade install

test: engine ## run the tests; Go, Node with npm and Python 3.10+ suffice
	$(GO) test -p $(PARALLEL) -shuffle=on -timeout 10m ./...

race: engine ## run the tests of RACE under the race detector
	$(GO) test -race -p $(PARALLEL) -shuffle=on -timeout 20m $(RACE)

lint: ## check formatting, vet and staticcheck
	@unformatted=$$($(GO) tool gofumpt -l $$(git ls-files '*.go' ':!*.pb.go')); \
	  if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

fmt: ## format the Go files
	$(GO) tool gofumpt -w $$(git ls-files '*.go' ':!*.pb.go')

generate: ## regenerate code from the .proto files
	schemas/generate.sh
	plugins/generate.sh

check-generated: generate ## fail when generated code is not what its source says
	git diff --exit-code -- schemas/spadepb plugins/pluginpb

fuzz: ## run each fuzz target of FUZZ for FUZZTIME
	@$(GO) list $(FUZZ) | while read -r pkg; do \
	  for name in $$($(GO) test -run '^$$' -list '^Fuzz' "$$pkg" | grep '^Fuzz' || true); do \
	    echo "$$pkg $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" || exit 1; \
	  done; \
	done

bench: engine ## print the figures that the documentation quotes
	@.ci/bench

bench-learn: engine ## does the policy learn: seeds 1 to 5 on the held-out suites, with intervals
	@.ci/learn

chaos: engine ## ROUNDS faults, drawn by SEED, on a running installation: is anything lost or doubled?
	SPADE_TEST_CHAOS_SEED=$(SEED) SPADE_TEST_CHAOS_ROUNDS=$(or $(ROUNDS),20) SPADE_TEST_CHAOS_BIN=$(CURDIR)/$(BIN) SPADE_TEST_CHAOS_KEEP=$(CURDIR)/$(BUILD)/chaos \
	  $(GO) test -count=1 -v -timeout 0 -run TestNothingIsLostOrDoubled ./test/chaos

chaos-kills: engine ## ROUNDS kills of every role in turn: how long until its work goes on?
	SPADE_TEST_CHAOS_SEED=$(SEED) SPADE_TEST_CHAOS_KILLS=$(or $(ROUNDS),200) SPADE_TEST_CHAOS_BIN=$(CURDIR)/$(BIN) SPADE_TEST_CHAOS_KEEP=$(CURDIR)/$(BUILD)/chaos \
	  $(GO) test -count=1 -v -timeout 0 -run TestRolesRecover ./test/chaos

demo: engine ## run the whole loop on examples/corpus and show what to query
	@.ci/demo

test-clients: engine ## run other people's clients against the embedded servers: kcat, curl, npm packages
	npm ci --silent --no-audit --no-fund --prefix test/clients/clickhouse
	npm ci --silent --no-audit --no-fund --prefix test/clients/qdrant
	SPADE_TEST_CLIENTS=1 $(GO) test -count=1 -timeout 10m ./test/clients/...

test-envs: build ## install other people's environments and put them through the sandbox and the gate
	@.ci/test-envs

check-deploy: ## check alert rules and Kubernetes manifests by other people's tools (needs promtool)
	@.ci/check-deploy

# Kafka's own broker: its jars come by Maven and run on Java 17.
KAFKA := $(BUILD)/kafka
$(KAFKA)/.fetched: test/kafka/pom.xml
	@rm -rf $(KAFKA)
	mvn -q -B -f test/kafka/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory='$(CURDIR)/$(KAFKA)'
	@touch $@

test-kafka: engine $(KAFKA)/.fetched ## run the log's tests, whole runs and chaos on Apache Kafka: one broker, and three that are lost in turn
	SPADE_TEST_KAFKA='$(CURDIR)/$(KAFKA)' $(GO) test -count=1 -timeout 10m ./test/kafka/...
	$(GO) run ./test/kafka/with -jars $(KAFKA) .ci/on-kafka

clean: ## remove what was built; data folders stay
	rm -rf $(BIN) $(BUILD)
