# Everything runs in .venv; `make` targets install what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# All cores; who is done early takes tests of the others.
CORES := -n logical --dist worksteal
PROTOS := $(wildcard proto/visualproof/v1/*.proto)
APT := python3-venv tesseract-ocr tesseract-ocr-eng tesseract-ocr-deu tesseract-ocr-osd poppler-utils libgl1 libglib2.0-0 fonts-dejavu-core fonts-droid-fallback fonts-unifont bubblewrap chromium openssl

.PHONY: help demo test test-fast client client-check wheels check lint types imports proto proto-check apt env docker-lint bench clean

help:            ## this list
	@grep -E '^[a-z-]+: .*##' Makefile | sed 's/:.*##/ -/'

demo: env        ## the main job on a scanned invoice: read, prove, draw
	$(BIN)/python examples/demo.py

test: env        ## set-up and the whole test-suite
	$(BIN)/python -m pytest -q $(CORES)

test-fast: env   ## a minute: no servers, no OCR, no browser
	$(BIN)/python -m pytest -q $(CORES) -m "not slow"

check: lint types imports proto-check client-check docker-lint test  ## what CI runs

lint: env        ## ruff and buf
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/buf lint

types: env       ## mypy --strict
	$(BIN)/mypy

imports: env     ## who may import whom
	$(BIN)/lint-imports

docker-lint: env ## hadolint
	$(BIN)/hadolint Dockerfile

# Stubs are made by the oldest generator in use: old stubs run on new runtimes, never the reverse.
proto: .venv-proto/done  ## regenerate the stubs
	rm -f client/visualproof/v1/*_pb2*
	PATH="$(CURDIR)/.venv-proto/bin:$$PATH" .venv-proto/bin/python -m grpc_tools.protoc -Iproto \
	  --python_out=client --mypy_out=quiet:client $(PROTOS)
	PATH="$(CURDIR)/.venv-proto/bin:$$PATH" .venv-proto/bin/python -m grpc_tools.protoc -Iproto \
	  --grpc_python_out=client --mypy_grpc_out=quiet:client proto/visualproof/v1/visual_proof_service.proto

proto-check: proto  ## the checked-in stubs are what the protos give
	@git diff --exit-code --stat -- client/visualproof/v1 || \
	  { echo "stubs differ from the protos: commit what 'make proto' made"; exit 1; }
	@test -z "$$(git ls-files --others --exclude-standard client/visualproof/v1)" || \
	  { echo "new stubs are not committed"; exit 1; }

client: env      ## make the sync client from the async one
	$(BIN)/python client/make_sync.py

client-check: client  ## the checked-in sync client is what the async one gives
	@git diff --exit-code --stat -- client/visualproof/client.py || \
	  { echo "client.py differs from aio.py: commit what 'make client' made"; exit 1; }

wheels: env      ## both wheels, into dist/
	rm -rf client/build server/build dist
	$(BIN)/pip wheel -q --no-deps -w dist ./client ./server

.venv-proto/done:
	$(PYTHON) -m venv .venv-proto
	.venv-proto/bin/pip install -q grpcio-tools==1.71.2 mypy-protobuf==3.6.0 'setuptools<81'
	touch $@

apt:             ## Debian packages: Tesseract, poppler, fonts; Chromium for tests
	@missing=""; for p in $(APT); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ]; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	  else echo "Please run: sudo apt-get install$$missing"; exit 1; fi; fi

env: apt $(VENV)/done

$(VENV)/done: requirements.txt requirements-server.txt requirements-slim.txt requirements-rapidocr.txt client/pyproject.toml server/pyproject.toml server/setup.py VERSION
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -r requirements.txt
	$(BIN)/pip install -q --no-deps -r requirements-rapidocr.txt
	$(BIN)/pip install -q --no-deps -e client -e server
	touch $@

bench: env       ## accuracy, speed, reconcile, tables, text layer and bundles on the project's own documents
	$(BIN)/python bench/reconcile.py
	$(BIN)/python bench/speed.py
	$(BIN)/python bench/accuracy.py
	$(BIN)/python bench/tables.py
	$(BIN)/python bench/textlayer.py
	$(BIN)/python bench/bundles.py

clean:           ## remove environments and output
	rm -rf $(VENV) .venv-proto demo-out bench-out visualproof-data
