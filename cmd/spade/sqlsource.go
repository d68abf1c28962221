package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/olap"
)

// sqlSource is where a statement and the values of its parameters come from.
type sqlSource struct {
	file   string
	params []string
}

func (s *sqlSource) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.file, "file", "", "file that holds the query; - = standard input")
	cmd.Flags().StringArrayVar(&s.params, "param", nil, "value of a parameter of the query, as `name=value`; may be repeated")
}

// read gives the statement that was asked for, and the values of its parameters.
func (s *sqlSource) read(c *cli, cmd *cobra.Command, args []string) (query string, params map[string]string, err error) {
	if params, err = parameters(s.params); err != nil {
		return "", nil, flagError(cmd, err)
	}
	switch {
	case s.file != "" && len(args) > 0:
		return "", nil, flagError(cmd, errors.New("spade sql: QUERY and --file exclude each other"))
	case s.file != "" && s.file != "-":
		text, err := os.ReadFile(s.file)
		if err != nil {
			return "", nil, usage(fmt.Errorf("read the query: %w", err))
		}
		return string(text), params, nil
	case s.file == "" && (len(args) > 0 || screen.IsTerminal(c.in, c.getenv)):
		if err := exactArgs("QUERY")(cmd, args); err != nil {
			return "", nil, err
		}
		return args[0], params, nil
	}
	text, err := io.ReadAll(c.in)
	if err != nil {
		return "", nil, fmt.Errorf("read the query: %w", err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", nil, exactArgs("QUERY")(cmd, nil)
	}
	return string(text), params, nil
}

var parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parameters are the values by their names.
func parameters(list []string) (map[string]string, error) {
	params := map[string]string{}
	for _, p := range list {
		name, value, ok := strings.Cut(p, "=")
		if !ok || !parameterName.MatchString(name) {
			return nil, fmt.Errorf("invalid argument %q for \"--param\" flag: it is not name=value", p)
		}
		if _, twice := params[name]; twice {
			return nil, fmt.Errorf("invalid argument %q for \"--param\" flag: %s has a value already", p, name)
		}
		params[name] = value
	}
	return params, nil
}

// The server's codes of a parameter without a value, of one whose value is not of its type, and of a text that is no UUID,
// a parameter's or another.
const (
	codeParameterMissing = 456
	codeParameterInvalid = 457
	codeNoUUID           = 376
)

// badParameter says how a parameter gets its value; other errors stay as they are.
func badParameter(err error) error {
	switch code := olap.Code(err); {
	case code == codeParameterMissing:
		return withNext(err, "--param name=value gives the value; spade sql 'SELECT name, run_id FROM runs' shows the ids of runs")
	case code == codeParameterInvalid, code == codeNoUUID && strings.Contains(err.Error(), "query parameter"):
		return withNext(err, "a run is named by its id: spade sql 'SELECT name, run_id FROM runs' shows them")
	}
	return err
}
