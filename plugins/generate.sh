#!/usr/bin/env bash
# Regenerates plugins/pluginpb from plugins/proto. protoc comes from a pinned Python wheel, the Go plugins from go.mod's tools.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.build/protoc
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check grpcio-tools==1.76.0
fi
go build -o .build/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
go build -o .build/protoc-gen-go-grpc google.golang.org/grpc/cmd/protoc-gen-go-grpc
"$venv/bin/python" -m grpc_tools.protoc \
  --plugin=protoc-gen-go=.build/protoc-gen-go \
  --plugin=protoc-gen-go-grpc=.build/protoc-gen-go-grpc \
  --proto_path=plugins/proto \
  --go_out=. --go_opt=module=github.com/seed256f7767/spade \
  --go-grpc_out=. --go-grpc_opt=module=github.com/seed256f7767/spade \
  plugins/proto/spade/plugin/v1/*.proto
