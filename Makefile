# Everything bootstraps itself from Python 3.11+, make and the package registry.
#   make run      set up, start the Host, print the page's address
#   make test     set up and pass all tests
#   make docs     build the documentation site into dist/docs

SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?=
UV_VERSION := 0.13.7
DATA ?= data
PORT ?= 5300
DOCS ?= dist/docs
SANDBOX ?= .tools/bubblewrap
UV := .tools/bin/uv
PARLOUR := .venv/bin/parlour
PYTEST := .venv/bin/python -m pytest
# Tests wait for processes more than they work.
WORKERS ?= $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))
export UV_PROJECT_ENVIRONMENT := .venv
export UV_PYTHON_DOWNLOADS := never

.PHONY: quick migration help setup sandbox mcp-servers door-clients harnesses more-harnesses agent-services langflow pythons synapse peers user-mode-linux podman nginx web web-tools web-check web-parts web-test browser e2e e2e-check e2e-first e2e-second screenshots run test test-all check format documents docs release bench clean

help:
	@sed -n 's/^#   //p' Makefile

E2E := cd tests/e2e && ../../.tools/pnpm/node_modules/.bin/pnpm --silent

$(UV): Makefile
	@$(or $(PYTHON),python3) -m venv .tools || { echo "python3 has no venv module; install it (Debian: apt-get install python3-venv)"; exit 1; }
	@.tools/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $(UV)

.venv/.ready: $(UV) tools/python.sh pyproject.toml uv.lock packages/sdk/pyproject.toml packages/host/pyproject.toml
	@python="$$(tools/python.sh "$(PYTHON)")" && \
		$(UV) sync --quiet --frozen --compile-bytecode --python "$$python"
	@touch .venv/.ready

setup: .venv/.ready
	@.venv/bin/python -m compileall -q packages plugins

# What the sandbox around plugins is made with. The tests need it; a Host without it says so and goes on.
sandbox:
	@tools/bubblewrap.sh $(SANDBOX)

# What the tests of MCP talk to. A Host needs none of it.
mcp-servers:
	@tools/node_packages.sh tools/mcp_servers .tools/mcp-servers

# The client of AG-UI that the tests run as their users do.
door-clients:
	@tools/node_packages.sh tools/door_clients .tools/door-clients

# Coding agents with a newer Node.js, and further clients, for the long tests: about 1 GB.
harnesses:
	@tools/node_packages.sh tools/harnesses .tools/harnesses

# The coding agents that are only tested by name: about 700 MB.
more-harnesses: harnesses
	@tools/node_packages.sh tools/more_harnesses .tools/more-harnesses install

# The homeserver that the tests of Matrix talk to. A Host needs none of it.
agent-services: setup
	@tools/agent_services.sh vendors a2a langgraph

synapse: setup
	@tools/synapse.sh .tools/synapse

# The client libraries and servers of other platforms that the long tests talk to. A Host needs none of them.
peers: setup
	@tools/peers.sh .tools/peers

# A kernel that runs as a program, for long tests of what the machine's own kernel may lack.
user-mode-linux:
	@tools/user_mode_linux.sh .tools/user-mode-linux

# Podman with a small image, in which long tests of the Box run containers. Needs root where podman is not installed.
podman: setup
	@PYTHON="$(CURDIR)/.venv/bin/python" tools/podman.sh .tools/podman

# The reverse proxy that the tests put before a Host. A Host needs none of it.
nginx:
	@tools/nginx.sh .tools/nginx

# The page that the Host serves; a Host without it says so and goes on.
web:
	@tools/web.sh

web-test: web-check web-parts

web-tools:
	@tools/web.sh tools

web-check: web-tools
	@cd web && ../.tools/pnpm/node_modules/.bin/pnpm --silent check

web-parts: web-tools
	@cd web && ../.tools/pnpm/node_modules/.bin/pnpm --silent test

# The browser that the page is tested with. A Host needs none of it.
browser:
	@tools/browser.sh

# The page in that browser: two halves, each with a browser and a Host of its own.
e2e: e2e-first e2e-second

e2e-check: browser
	@$(E2E) check

e2e-first: e2e-check setup nginx web
	@$(E2E) test --shard=1/2

e2e-second: e2e-check setup nginx web
	@$(E2E) test --shard=2/2

# Every page, light and dark, in both languages, into docs/images.
screenshots: setup web browser
	@$(E2E) screenshots

run: setup
	@tools/bubblewrap.sh $(SANDBOX) || true
	@tools/web.sh || true
	@exec $(PARLOUR) serve --data "$(DATA)" --port $(PORT)

# Tests that measure time run alone, after the others. A file's tests share a worker, and so the Hosts they start.
# Files with real processes come first: their few long tests would keep one worker busy at the end while others rest.
PARALLEL := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
ALL_TESTS := tests plugins packages/host/tests packages/sdk/tests
# Looked for by their mark, since collecting all tests for these few takes longer than some of them.
QUIET_TESTS = $(shell grep -rl --include='test_*.py' 'mark\.quiet' $(ALL_TESTS))

# Up to three tests that failed beside thousands of others are run once more, alone, and named.
RERUN := .venv/bin/python -m tools.rerun_failed

# A browser and its Host need about one core.
WEB_TESTS = $(MAKE) --no-print-directory web-parts && $(MAKE) --no-print-directory --jobs 2 --output-sync e2e-first e2e-second web-check

test: setup sandbox mcp-servers door-clients synapse nginx web
	@rm -f .pytest_cache/v/cache/lastfailed
	@$(PYTEST) -q $(PARALLEL) -m "not long and not quiet" $(ALL_TESTS) || { [ $$? = 1 ] && $(RERUN); }
	@rm -f .pytest_cache/v/cache/lastfailed
	@$(PYTEST) -q -m "quiet and not long" $(QUIET_TESTS) || { [ $$? = 1 ] && $(RERUN); }
	@$(WEB_TESTS)

# make test-all PART=box runs one part. Langflow and the other coding agents are large, so they are only run by name.
HOST_TESTS := packages/host/tests
PART_platforms := tests/platforms $(HOST_TESTS)/platforms
PART_work := tests/crash tests/chaos tests/simulation tests/fuzz $(HOST_TESTS)/core/jobs
PART_runners := plugins packages/sdk/tests tests/agent_services tests/integration/models
PART_box := tests/integration/box $(HOST_TESTS)/box $(HOST_TESTS)/isolation
PART_knowledge := tests/knowledge tests/integration/knowledge tests/crash/test_knowledge.py $(HOST_TESTS)/providers/knowledge
PART_doors := tests/integration/doors
PART_harnesses := tests/integration/harnesses
PART_harnesses-all := tests/integration/harnesses/other_harnesses.py
PART_policy := tests/integration/policies $(HOST_TESTS)/core/message_policy $(HOST_TESTS)/core/plugin_hooks \
	$(HOST_TESTS)/core/store/test_limits.py $(HOST_TESTS)/stores/test_limits.py tests/crash/test_hooks.py \
	tests/crash/test_quotas.py tests/integration/plugins/test_path_hooks.py tests/integration/plugins/test_plugin_pages.py
PART_cluster := tests/cluster $(HOST_TESTS)/core/cluster $(HOST_TESTS)/stores
PART_release := tests/release tests/walkthrough tests/tools
PART_langflow := tests/agent_services/langflow_peer.py
PARTS := $(sort $(patsubst PART_%,%,$(filter PART_%,$(.VARIABLES))))

ifdef PART
ifeq ($(PART_$(PART)),)
$(error there is no part '$(PART)'; there are: $(PARTS))
endif
endif

test-all: export PARLOUR_HYPOTHESIS := random
test-all: $(if $(filter langflow,$(PART)),langflow) $(if $(filter harnesses-all,$(PART)),more-harnesses) setup sandbox mcp-servers door-clients harnesses agent-services synapse peers user-mode-linux nginx web
ifdef PART
	@$(PYTEST) -q $(PARALLEL) $(PART_$(PART)) -m "not quiet"
	@$(PYTEST) -q $(PART_$(PART)) -m "quiet" || [ $$? = 5 ]  # 5: it has no quiet test
else
	@$(PYTEST) -q $(PARALLEL) -m "not quiet" $(ALL_TESTS)
	@$(PYTEST) -q -m "quiet" $(QUIET_TESTS)
	@$(WEB_TESTS)
	@$(E2E) long
	@$(MAKE) --no-print-directory pythons
endif

# The unit tests on every other supported Python that is found.
pythons: setup
	@tools/pythons.sh .tools/pythons $(PARALLEL) -m "not long and not quiet" packages/host/tests packages/sdk/tests

langflow: setup
	@tools/agent_services.sh langflow

check: setup
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports
	@.venv/bin/python -m tools.code_metrics
	@.venv/bin/python -m tools.dependency_report --check
	@.venv/bin/python -m tools.dependency_audit

# Lint, types and the fast unit tests: after each change, in under a minute.
QUICK_TESTS := packages/host/tests/core packages/host/tests/http packages/sdk/tests/protocol tests/contracts tests/docs
quick: setup
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check --quiet .
	@.venv/bin/mypy
	@.venv/bin/lint-imports > /dev/null
	@$(PYTEST) -q $(PARALLEL) -m "not long and not quiet" $(QUICK_TESTS)

# The skeleton of the next database migration: make migration PHASE=expand NAME="Add a table of jobs"
migration: setup
	@.venv/bin/python -m tools.new_migration "$(PHASE)" "$(NAME)"

format: setup
	@.venv/bin/ruff check --fix --quiet . ; .venv/bin/ruff format --quiet .

documents: setup
	@.venv/bin/python -m tools.database_schema
	@.venv/bin/python -m tools.protocol_documents
	@.venv/bin/python -m tools.platform_documents
	@.venv/bin/python -m tools.http_documents
	@.venv/bin/python -m tools.settings_documents
	@.venv/bin/python -m tools.handler_documents
	@.venv/bin/python -m tools.memory_state_documents
	@.venv/bin/python -m tools.upgrade_notes
	@.venv/bin/python -m tools.public_names
	@.venv/bin/python -m tools.dependency_report
	@.venv/bin/python -m tools.seccomp_profile
	@.venv/bin/python -m tools.translations

# The documentation as a site that can be searched, into dist/docs.
docs: setup
	@tools/python_environment.sh .tools/docs tools/docs_site/requirements.txt "the generator of the documentation site"
	@NO_MKDOCS_2_WARNING=1 .tools/docs/bin/python -m mkdocs build --quiet --site-dir "$(DOCS)"

# Wheels, plugins, list of components and checksums of a release, into dist; signed with SIGN=a key of ssh-keygen.
release: setup web
	@.venv/bin/python -m tools.release dist $(SIGN)

# Measures, and writes the figures into docs/performance.md and the READMEs.
bench: setup
	@.venv/bin/python -m bench --page

clean:
	@rm -rf web/node_modules tests/e2e/node_modules packages/host/src/parlour/page
	@rm -rf .venv .tools .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
