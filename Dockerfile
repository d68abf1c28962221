# The program and its native trainer plugin, for spade worker on a cluster: the services are elsewhere, so that the engine of
# the embedded warehouse is not in it. Environments in Python need the interpreter, which is.
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
ENV CGO_ENABLED=0
RUN go build -trimpath -ldflags "-X github.com/seed256f7767/spade/internal/observe.version=${VERSION}" -o /out/spade ./cmd/spade \
 && go build -trimpath -ldflags "-X github.com/seed256f7767/spade/internal/observe.version=${VERSION}" -o /out/spade-plugin-native ./plugins/native

FROM debian:12.12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates python3 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 65532 --no-create-home --home-dir /var/lib/spade spade \
 && install -d -o 65532 -g 65532 /var/lib/spade
COPY --from=build /out/spade /out/spade-plugin-native /usr/local/bin/
COPY LICENSE NOTICE /usr/share/doc/spade/
ENV SPADE_DATA=/var/lib/spade
USER 65532:65532
EXPOSE 9464 7777
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/spade"]
CMD ["--help"]
