package embedding

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/seed256f7767/spade/internal/trust"
)

// newClient is the client of an endpoint: held to its certificate by the system's authorities, and sent nowhere else, where
// it would take its key.
func newClient(u *url.URL) (*http.Client, error) {
	certs, err := trust.Config("", u.Hostname())
	if err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = certs
	return &http.Client{Transport: trust.Stay(t)}, nil
}

// noAnswer is the class of a request that brought no answer.
func noAnswer(u string, err error) error {
	err = withoutURL(err)
	addr := "embeddings.url"
	if parsed, bad := url.Parse(u); bad == nil {
		addr = parsed.Host
	}
	names := trust.Names{Plain: "write http:// in embeddings.url when the way to it is safe", TLS: "write https:// in embeddings.url"}
	if explained := trust.Explain(addr, names, err); explained != nil {
		return fmt.Errorf("%w: %w", ErrEndpointRefused, explained)
	}
	if errors.Is(err, trust.ErrRedirect) {
		return fmt.Errorf("%w: embeddings.url: %w", ErrEndpointRefused, err)
	}
	return fmt.Errorf("%w: %w", ErrEndpointUnavailable, err)
}
