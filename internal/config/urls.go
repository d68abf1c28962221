package config

import (
	"errors"
	"net/url"
	"strings"

	"github.com/seed256f7767/spade/internal/secret"
)

// liftUserinfo takes credentials out of URLs, so that a URL can be printed. The warehouse's become its user and
// password; elsewhere they are refused, because nothing would use them.
func (l *Loaded) liftUserinfo() []error {
	var problems []error
	fail := func(key, what string) {
		problems = append(problems, &Problem{Where: l.where(key), Key: key, What: what, class: ErrInvalid})
	}
	info, bare, err := splitUserinfo(l.ClickHouse.URL)
	l.ClickHouse.URL = bare
	switch {
	case err != nil:
		fail("clickhouse.url", err.Error())
	case info != nil && (l.ClickHouse.User != "" || !l.ClickHouse.Password.IsZero()):
		fail("clickhouse.url", "carries a user while clickhouse.user or clickhouse.password is set; keep one")
	case info != nil:
		password, _ := info.Password()
		l.ClickHouse.User, l.ClickHouse.Password = info.Username(), secret.New(password)
		l.origins["clickhouse.user"] = l.origins["clickhouse.url"]
		l.origins["clickhouse.password"] = l.origins["clickhouse.url"]
	}
	for key, u := range map[string]*string{
		"embeddings.url": &l.Embeddings.URL, "checkpoints": &l.Checkpoints, "s3.endpoint": &l.S3.Endpoint, "trace.endpoint": &l.Trace.Endpoint,
	} {
		info, bare, err := splitUserinfo(*u)
		*u = bare
		switch {
		case err != nil:
			fail(key, err.Error())
		case info != nil:
			fail(key, "carries a user or password; give it apart from the address")
		}
	}
	return problems
}

// splitUserinfo takes the credentials out of a URL. What is no URL at all comes back empty: an error that quoted it
// could print a password.
func splitUserinfo(text string) (*url.Userinfo, string, error) {
	if !strings.Contains(text, "@") { // a folder may have a name that is no URL
		return nil, text, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, "", errors.New("is not a URL")
	}
	info := u.User
	if info == nil {
		return nil, text, nil
	}
	u.User = nil
	return info, u.String(), nil
}

// where is the place a key was set, for a Problem.
func (l *Loaded) where(key string) string {
	return string(l.origins[key])
}
