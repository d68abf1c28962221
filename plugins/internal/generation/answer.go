package generation

import (
	"google.golang.org/grpc"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// Answer answers a request: generate gives completions through emit, in pieces of any size, and the end mark follows.
func Answer(
	req *pluginpb.GenerateRequest, st grpc.ServerStreamingServer[pluginpb.GenerateResponse],
	generate func(role policy.Role, version int64, prompts []policy.Prompt, emit func([]policy.Completion) error) error,
) error {
	var n uint64
	emit := func(cs []policy.Completion) error {
		n += uint64(len(cs))
		return st.Send(&pluginpb.GenerateResponse{Part: &pluginpb.GenerateResponse_Completions{Completions: completionsTo(cs)}})
	}
	if err := generate(policy.Role(req.Role), req.Version, promptsFrom(req.Prompts), emit); err != nil {
		return err
	}
	return st.Send(&pluginpb.GenerateResponse{Part: &pluginpb.GenerateResponse_End{End: &pluginpb.GenerateEnd{Count: n}}})
}
