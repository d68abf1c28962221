// Command with runs a command that finds Apache Kafka's own broker in its environment:
//
//	with -jars FOLDER [-nodes N] [-login sasl|tls|cert|open] COMMAND [ARGUMENT…]
//
// It starts a cluster on the loopback interface, sets SPADE_KAFKA_BROKERS and what belongs to it, runs the command and stops
// the cluster. Its exit code is the command's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed256f7767/spade/test/kafka/broker"
	"github.com/seed256f7767/spade/test/kafka/pki"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	code, err := with(ctx, args, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "with:", err)
	}
	return code
}

const password = "a password of the tests"

func with(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, err error) {
	flags := flag.NewFlagSet("with", flag.ContinueOnError)
	flags.SetOutput(stderr)
	jars := flags.String("jars", "", "folder of Kafka's jars")
	nodes := flags.Int("nodes", 1, "brokers")
	login := flags.String("login", "sasl", "sasl, tls (SASL over TLS), cert (client certificate) or open")
	if err := flags.Parse(args); err != nil {
		return 2, nil //nolint:nilerr // the flag package has printed it
	}
	if flags.NArg() == 0 {
		return 2, errors.New("no command given")
	}
	dir, err := os.MkdirTemp("", "spade-kafka-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, env, err := open(dir, *jars, *nodes, *login)
	if err != nil {
		return 1, err
	}
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	err = c.Start(starting)
	cancel()
	if err != nil {
		return 1, err
	}
	code, err = command(ctx, flags.Args(), env, stdout, stderr)
	if code != 0 {
		fmt.Fprint(stderr, c.Log())
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	return code, errors.Join(err, c.Shutdown(ending))
}

// open makes a cluster and says how to reach it.
func open(dir, jars string, nodes int, login string) (*broker.Cluster, []string, error) {
	certs, err := pki.Write(filepath.Join(dir, "certificates"), "127.0.0.1")
	if err != nil {
		return nil, nil, err
	}
	c, err := broker.New(broker.Config{
		Jars: jars, Dir: dir, Nodes: nodes, Users: map[string]string{broker.Superuser: password},
		TLS: broker.TLS{KeyStore: certs.ServerStore, CA: certs.CA},
		// A certificate's name is a user as well: that of these tests may do everything.
		Properties: map[string]string{"super.users": "User:ANONYMOUS;User:" + broker.Superuser + ";User:CN=client"},
	})
	if err != nil {
		return nil, nil, err
	}
	user := []string{"SPADE_KAFKA_USER=" + broker.Superuser, "SPADE_KAFKA_PASSWORD=" + password, "SPADE_KAFKA_SASL=scram-sha-512"}
	tls := []string{"SPADE_KAFKA_TLS=true", "SPADE_KAFKA_CA=" + certs.CA}
	at := func(l broker.Listener) string { return "SPADE_KAFKA_BROKERS=" + strings.Join(c.Addrs(l), ",") }
	switch login {
	case "open":
		return c, []string{at(broker.Plain)}, nil
	case "sasl":
		return c, append(user, at(broker.SASL)), nil
	case "tls":
		return c, append(append(user, tls...), at(broker.SASLTLS)), nil
	case "cert":
		return c, append(tls, at(broker.MutualTLS), "SPADE_KAFKA_CERT="+certs.Client, "SPADE_KAFKA_KEY="+certs.ClientKey), nil
	default:
		return nil, nil, fmt.Errorf("there is no login %q", login)
	}
}

// command runs what was asked for.
func command(ctx context.Context, args, env []string, stdout, stderr io.Writer) (int, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(1, exit.ExitCode()), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
