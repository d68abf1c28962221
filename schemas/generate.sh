#!/usr/bin/env bash
# Regenerates schemas/spadepb from schemas/proto. protoc comes from a pinned Python wheel, the Go plugin from go.mod's tools.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.build/protoc
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check grpcio-tools==1.76.0
fi
go build -o .build/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
"$venv/bin/python" -m grpc_tools.protoc \
  --plugin=protoc-gen-go=.build/protoc-gen-go \
  --proto_path=schemas/proto \
  --go_out=. --go_opt=module=github.com/seed256f7767/spade \
  schemas/proto/spade/v1/*.proto
