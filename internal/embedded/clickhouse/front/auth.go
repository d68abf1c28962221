package front

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
)

// checkPeer refuses what a web page can make a browser send: a Host other than the loopback address (a name that was
// rebound to it), an Origin other than the server's own, and any request that the browser says comes from elsewhere.
func checkPeer(r *http.Request) error {
	if !loopbackHost(r.Host) {
		return &engine.Error{Code: engine.CodeAuthentication, Message: "the Host header names another host: this server answers on the loopback address only"}
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host != r.Host || u.Scheme != "http" {
			return &engine.Error{Code: engine.CodeAuthentication, Message: "requests from web pages of other origins are refused"}
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return nil
	}
	return &engine.Error{Code: engine.CodeAuthentication, Message: "requests from web pages of other sites are refused"}
}

func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// authenticate finds the user that a request logs in as. All comparisons take the same time.
func (h *Handler) authenticate(r *http.Request) (User, error) {
	name, secret := credentials(r)
	var found User
	ok := 0
	for _, u := range h.cfg.Users {
		match := same(u.Name, name) & same(u.Secret, secret)
		if match == 1 {
			found = u
		}
		ok |= match
	}
	if ok != 1 {
		return User{}, &engine.Error{
			Code:    engine.CodeAuthentication,
			Message: "Authentication failed: password is incorrect, or there is no user with such name (`spade up --print-env` prints how to log in)",
		}
	}
	return found, nil
}

// credentials are taken from one place, in ClickHouse's order: headers, Basic, URL.
func credentials(r *http.Request) (name, secret string) {
	if name = r.Header.Get("X-ClickHouse-User"); name != "" {
		return name, r.Header.Get("X-ClickHouse-Key")
	}
	if name, secret, ok := r.BasicAuth(); ok {
		return name, secret
	}
	q := r.URL.Query()
	return q.Get("user"), q.Get("password")
}

func same(a, b string) int {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:])
}
