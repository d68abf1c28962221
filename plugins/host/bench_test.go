package host_test

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/pluginpb"
	"github.com/seed256f7767/spade/plugins/sdk"
)

// benchBytes is what the references move: about as much as BenchmarkTrainTransfer does.
const benchBytes = 17 << 20

// discard takes the chunks of a training stream and looks at none of them.
type discard struct {
	pluginpb.UnimplementedTrainerServer
}

func (discard) Train(st grpc.BidiStreamingServer[pluginpb.TrainPart, pluginpb.TrainResult]) error {
	for {
		_, err := st.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// BenchmarkPlainStream is a gRPC stream of as many bytes as BenchmarkTrainTransfer moves, over the same kind of socket with
// the same options, without Arrow, a plugin or its answer: what the transfer is compared with.
func BenchmarkPlainStream(b *testing.B) {
	socket := filepath.Join(b.TempDir(), "s")
	ln, err := (&net.ListenConfig{}).Listen(b.Context(), "unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	s := sdk.NewGRPCServer(nil)
	pluginpb.RegisterTrainerServer(s, discard{})
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(16<<20), grpc.WithInitialConnWindowSize(32<<20),
		grpc.WithReadBufferSize(256<<10), grpc.WithWriteBufferSize(256<<10))
	if err != nil {
		b.Fatal(err)
	}
	client := pluginpb.NewTrainerClient(conn)
	chunk := make([]byte, plugins.ChunkBytes)
	b.SetBytes(benchBytes)
	for b.Loop() {
		st, err := client.Train(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for sent := 0; sent < benchBytes; sent += len(chunk) {
			if err := st.Send(&pluginpb.TrainPart{Part: &pluginpb.TrainPart_Chunk{Chunk: chunk}}); err != nil {
				b.Fatal(err)
			}
		}
		if err := st.CloseSend(); err != nil {
			b.Fatal(err)
		}
		if _, err := st.Recv(); !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		b.Error(err)
	}
	s.Stop()
	if err := <-served; err != nil {
		b.Error(err)
	}
}

// BenchmarkCopy is one copy in memory, which no transfer between processes can be faster than.
func BenchmarkCopy(b *testing.B) {
	from, to := make([]byte, benchBytes), make([]byte, benchBytes)
	b.SetBytes(benchBytes)
	for b.Loop() {
		copy(to, from)
	}
}
