package broker

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/uuid"
)

// Node is one broker.
type Node struct {
	ID    int
	jars  string
	dir   string
	addrs map[Listener]string

	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	over bool          // the end was asked for
}

// Addr is the node's address of a listener.
func (n *Node) Addr(l Listener) string { return n.addrs[l] }

// java is a command of Kafka's in a small JVM that starts quickly.
func (n *Node) java(ctx context.Context, heap, class string, args ...string) *exec.Cmd {
	flags := []string{
		"-Xms64m", "-Xmx" + heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError",
		"-Djava.net.preferIPv4Stack=true", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-Dorg.slf4j.simpleLogger.showDateTime=true", "-cp", filepath.Join(n.jars, "*"), class,
	}
	cmd := exec.CommandContext(ctx, "java", append(flags, args...)...)
	cmd.Dir = n.dir
	cmd.SysProcAttr = dieWithParent()
	return cmd
}

// format writes what a log folder must hold before its first start.
func (n *Node) format(ctx context.Context, cluster string, scram []string) error {
	args := append([]string{"format", "--cluster-id", cluster, "--config", n.propertiesFile(), "--ignore-formatted"}, scram...)
	out, err := n.java(ctx, "128m", "kafka.tools.StorageTool", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("format node %d: %w\n%s", n.ID, err, out)
	}
	return nil
}

// formatAs writes what format has written for another node: no second JVM needs to start for it.
func (n *Node) formatAs(other *Node) error {
	from, to := filepath.Join(other.dir, logDir), filepath.Join(n.dir, logDir)
	meta, err := os.ReadFile(filepath.Join(from, "meta.properties"))
	if err != nil {
		return err
	}
	id := uuid.New()
	id[0] &= 0x7f // Kafka takes no id whose text begins with a dash
	var lines []string
	for line := range strings.Lines(string(meta)) {
		switch name, _, _ := strings.Cut(line, "="); name {
		case "node.id":
			line = fmt.Sprintf("node.id=%d\n", n.ID)
		case "directory.id":
			line = "directory.id=" + base64.RawURLEncoding.EncodeToString(id[:]) + "\n"
		}
		lines = append(lines, line)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "meta.properties"), []byte(strings.Join(lines, "")), 0o600)
}

// Start runs the node; Cluster.Wait waits for it.
func (n *Node) Start() error {
	if n.Running() {
		return fmt.Errorf("node %d runs already", n.ID)
	}
	log, err := os.OpenFile(n.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// It outlives the call that starts it.
	n.cmd = n.java(context.Background(), "256m", "kafka.Kafka", n.propertiesFile())
	n.cmd.Stdout, n.cmd.Stderr = log, log
	n.done, n.over = make(chan struct{}), false
	started, cmd, done := make(chan error, 1), n.cmd, n.done
	go startAndWait(cmd, started, done)
	return errors.Join(<-started, log.Close())
}

// Running reports whether the process is there, stopped or not.
func (n *Node) Running() bool {
	if n.done == nil {
		return false
	}
	select {
	case <-n.done:
		return false
	default:
		return true
	}
}

// ended is an error when the process has ended by itself.
func (n *Node) ended() error {
	if n.done == nil || n.Running() || n.over {
		return nil
	}
	return fmt.Errorf("node %d ended: %v\n%s", n.ID, n.cmd.ProcessState, n.tail())
}

// Kill ends the process at once, as kill -9 does, and waits until it is gone.
func (n *Node) Kill() error { return n.end(syscall.SIGKILL) }

func (n *Node) end(sig syscall.Signal) error {
	if !n.Running() {
		return nil
	}
	n.over = true
	if err := n.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-n.done
	return nil
}

// Stop asks the node to end and kills it when ctx ends first.
func (n *Node) Stop(ctx context.Context) error {
	if !n.Running() {
		return nil
	}
	defer context.AfterFunc(ctx, func() { _ = n.cmd.Process.Kill() })() // it may have ended meanwhile
	return n.end(syscall.SIGTERM)
}

// Pause stops the process in its tracks: connections stay open and nothing answers. Resume lets it go on.
func (n *Node) Pause() error { return n.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume undoes Pause.
func (n *Node) Resume() error {
	if !n.Running() {
		return nil
	}
	return n.cmd.Process.Signal(syscall.SIGCONT)
}

func (n *Node) logFile() string { return filepath.Join(n.dir, "broker.log") }

// tailBytes is how much of a log is shown.
const tailBytes = 4 << 10

func (n *Node) tail() string {
	data, err := os.ReadFile(n.logFile())
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(data[max(0, len(data)-tailBytes):]))
}
