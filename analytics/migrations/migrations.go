package migrations

import (
	"context"
	"fmt"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

// VersionError says that the warehouse was made with other definitions than this program's.
type VersionError struct {
	Have, Want int
}

// Error names both versions and what to do.
func (e *VersionError) Error() string {
	advice := "drop the database " + tables.Database + " and let it be filled from the log again"
	if e.Have > e.Want {
		advice = "use the newer program, or " + advice
	}
	return fmt.Sprintf("the warehouse has version %d of the tables, this program needs version %d: %s", e.Have, e.Want, advice)
}

// Install makes what is missing. A warehouse in which it was interrupted is completed; one of another version is left as it is
// and refused with a *VersionError. It may be called by several processes at once.
func Install(ctx context.Context, conn olap.Conn) error {
	have, err := version(ctx, conn)
	if err != nil {
		return fmt.Errorf("read the warehouse's version: %w", err)
	}
	switch have {
	case tables.SchemaVersion:
		return nil
	case 0:
	default:
		return &VersionError{Have: have, Want: tables.SchemaVersion}
	}
	catalogue, err := tables.New()
	if err != nil {
		return err
	}
	for _, s := range catalogue.Statements() {
		if err := conn.Exec(ctx, s.SQL); err != nil {
			return fmt.Errorf("define %s in the warehouse: %w", s.Name, err)
		}
	}
	// Last: it says that everything before is there.
	err = conn.Exec(ctx, fmt.Sprintf("INSERT INTO %s.%s (version) VALUES (%d)", tables.Database, tables.SchemaTable, tables.SchemaVersion))
	if err != nil {
		return fmt.Errorf("record the warehouse's version: %w", err)
	}
	return nil
}

// version is the newest version that was installed whole, 0 when none was.
func version(ctx context.Context, conn olap.Conn) (int, error) {
	var newest int32
	err := conn.QueryRow(ctx, "SELECT max(version) FROM "+tables.Database+"."+tables.SchemaTable).Scan(&newest)
	switch olap.Code(err) {
	case olap.CodeUnknownTable, olap.CodeUnknownDatabase:
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return int(newest), nil
}
