package qdrant

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/engine"
	"github.com/seed256f7767/spade/internal/embedded/qdrant/oplog"
	"github.com/seed256f7767/spade/internal/secret"
)

// recoverPanics turns a panic of a handler into an Internal error: one bad
// request must not end the server for everybody.
func recoverPanics(logger *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
		defer func() {
			if r := recover(); r != nil {
				logger.Error("vector server handler panicked", "method", info.FullMethod, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				resp, err = nil, status.Error(codes.Internal, "Service internal error: handler panicked")
			}
		}()
		return handler(ctx, req)
	}
}

func authenticate(key secret.Text) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if err := checkKey(ctx, key); err != nil {
			return nil, err
		}
		return handler(ctx, req)
	}
}

// checkKey compares digests, so that neither the key's bytes nor its length
// show in the time it takes.
func checkKey(ctx context.Context, key secret.Text) error {
	if key.IsZero() {
		return nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	given := md.Get("api-key")
	for _, v := range md.Get("authorization") {
		if token, ok := strings.CutPrefix(v, "Bearer "); ok {
			given = append(given, token)
		}
	}
	if len(given) == 0 {
		return status.Error(codes.Unauthenticated, "Must provide an API key or an Authorization bearer token")
	}
	want := sha256.Sum256([]byte(key.Reveal()))
	for _, g := range given {
		got := sha256.Sum256([]byte(g))
		if subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
			return nil
		}
	}
	return status.Error(codes.Unauthenticated, "Invalid API key or JWT")
}

// answerErrors gives every error of a handler the gRPC code that Qdrant uses.
func answerErrors(logger *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		resp, err := handler(ctx, req)
		if err == nil {
			return resp, nil
		}
		if status.Code(err) == codes.Unimplemented {
			return nil, status.Errorf(codes.Unimplemented, "%s is not implemented by the embedded vector server", info.FullMethod)
		}
		code := codeOf(err)
		if code == codes.Internal {
			logger.Error("vector server request failed", "method", info.FullMethod, "error", err)
		}
		return nil, status.Error(code, err.Error())
	}
}

func codeOf(err error) codes.Code {
	var e *engine.Error
	switch {
	case errors.As(err, &e):
		return map[engine.Kind]codes.Code{
			engine.NotFound: codes.NotFound, engine.Exists: codes.AlreadyExists, engine.Invalid: codes.InvalidArgument,
			engine.Unsupported: codes.Unimplemented, engine.Exhausted: codes.ResourceExhausted,
		}[e.Kind]
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return codes.ResourceExhausted
	case errors.Is(err, oplog.ErrUnusable):
		return codes.Unavailable
	}
	return codes.Internal
}

// unknownMethod answers services that are not registered (snapshots, shards).
func unknownMethod(key secret.Text) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) error {
		if err := checkKey(stream.Context(), key); err != nil {
			return err
		}
		method, _ := grpc.MethodFromServerStream(stream)
		return status.Errorf(codes.Unimplemented, "%s is not implemented by the embedded vector server", method)
	}
}
