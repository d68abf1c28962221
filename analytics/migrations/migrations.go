package migrations

import (
	"context"
	"fmt"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

// VersionError says that the warehouse was made by a newer program, with other definitions than this one's.
type VersionError struct {
	Have, Want int
}

// Error names both versions and what to do.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the warehouse has version %d of the tables, this program needs version %d: use the newer program, or drop "+
		"the database %s and let it be filled from the log again", e.Have, e.Want, tables.Database)
}

// Install makes what is missing. A warehouse in which it was interrupted is completed, one of an older version is brought up
// to this one; one of a newer version is left as it is and refused with a *VersionError. It may be called by several
// processes at once.
func Install(ctx context.Context, conn olap.Conn) error {
	have, err := version(ctx, conn)
	if err != nil {
		return fmt.Errorf("read the warehouse's version: %w", err)
	}
	if have == tables.SchemaVersion {
		return nil
	}
	if have > tables.SchemaVersion {
		return &VersionError{Have: have, Want: tables.SchemaVersion}
	}
	catalogue, err := tables.New()
	if err != nil {
		return err
	}
	statements := catalogue.Statements()
	if have > 0 {
		statements = catalogue.Upgrade(have)
	}
	for _, s := range statements {
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
