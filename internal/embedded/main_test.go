package embedded_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/child"
	"github.com/seed256f7767/spade/internal/embedded/supervisor"
)

// TestMain makes the test binary what the program is: also a supervisor, its
// ClickHouse child, and a client that can be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch args := os.Args[2:]; os.Args[1] {
		case supervisor.Command:
			os.Exit(supervisor.Main(context.Background(), args, os.Stdin, os.Stdout, os.Stderr))
		case child.Command:
			os.Exit(child.Main(context.Background(), args, os.Stdin, os.Stdout, os.Stderr))
		case clientCommand:
			if err := clientMain(args); err != nil {
				fmt.Println("error:", err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}
