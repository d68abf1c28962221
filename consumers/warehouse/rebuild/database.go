package rebuild

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

const (
	// besidePrefix begins the name of the database that a rebuild fills.
	besidePrefix = "spade_rebuild_"
	// sealName begins the name of the constraint that keeps everybody from claiming.
	sealName = warehouse.SealName + "_"
	// switchTable is the table whose rows decide the switch.
	switchTable = "_switch"
)

func (w *Warehouse) exec(ctx context.Context, format string, args ...any) error {
	sql := fmt.Sprintf(format, args...)
	if err := w.set.Conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", firstWords(sql), err)
	}
	return nil
}

// firstWords names a statement.
func firstWords(sql string) string {
	words := strings.Fields(sql)
	return strings.ToLower(strings.Join(words[:min(2, len(words))], " ")) + " …"
}

// strs reads a column of texts.
func (w *Warehouse) strs(ctx context.Context, format string, args ...any) ([]string, error) {
	rows, err := w.set.Conn.Query(ctx, fmt.Sprintf(format, args...))
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// leftovers are the databases of rebuilds that did not end.
func (w *Warehouse) leftovers(ctx context.Context) ([]string, error) {
	return w.strs(ctx, "SELECT name FROM system.databases WHERE startsWith(name, '%s') ORDER BY name", besidePrefix)
}

// decided reports whether a rebuild got as far as the decision to switch to its tables.
func (w *Warehouse) decided(ctx context.Context, database string) (bool, error) {
	names, err := w.strs(ctx, "SELECT name FROM %s.%s", database, switchTable)
	switch olap.Code(err) {
	case olap.CodeUnknownTable, olap.CodeUnknownDatabase:
		return false, nil
	}
	return len(names) > 0, err
}

// seal is the name of this rebuild's seal.
func (w *Warehouse) seal() string { return sealName + strings.TrimPrefix(w.database, besidePrefix) }

// sealed reports whether nobody can claim partitions, because of a seal whose name begins like this.
func (w *Warehouse) sealed(ctx context.Context, name string) (bool, error) {
	names, err := w.strs(ctx, "SELECT name FROM system.tables WHERE database = '%s' AND name = '%s' AND position(create_table_query, '%s') > 0",
		tables.Database, tables.ClaimsTable, name)
	return len(names) > 0, err
}

// replaceClaims puts a table of claims in the place of the one that is there, in one step.
func (w *Warehouse) replaceClaims(ctx context.Context, s tables.Statement) error {
	return w.exec(ctx, "%s", strings.Replace(s.SQL, "CREATE TABLE IF NOT EXISTS", "CREATE OR REPLACE TABLE", 1))
}

// create makes the tables that are missing, also where the warehouse says that it has them all.
func (w *Warehouse) create(ctx context.Context) error {
	for _, s := range w.catalogue.Statements() {
		if err := w.exec(ctx, "%s", s.SQL); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}

// notExchanged are the tables of a decided rebuild that are not in the place of the warehouse's.
func (w *Warehouse) notExchanged(ctx context.Context, database string) ([]string, error) {
	return w.strs(ctx, "SELECT name FROM %s.%s WHERE (name, toString(uuid)) NOT IN (SELECT name, toString(uuid) FROM system.tables WHERE database = '%s') "+
		"ORDER BY position", database, switchTable, tables.Database)
}
