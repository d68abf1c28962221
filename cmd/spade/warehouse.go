package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Errors of reading a warehouse that lacks what is asked for.
var (
	errNoTables = errors.New("the warehouse has no tables yet: nothing of the log was written to it")
	errNoTable  = errors.New("the warehouse has no such table or view")
)

// unknownTable says in a sentence that the warehouse lacks a table, and what to do; other errors stay as they are.
func unknownTable(ctx context.Context, conn olap.Conn, err error) error {
	if code := olap.Code(err); code != olap.CodeUnknownTable && code != olap.CodeUnknownDatabase {
		return err
	}
	var there uint8
	if ask := conn.QueryRow(ctx, "EXISTS TABLE "+tables.Database+"."+tables.RunEvents).Scan(&there); ask == nil && there == 0 {
		return withNext(errNoTables, "spade run makes them with its first run; spade verify writes a log that is there already")
	}
	if name := unknownName.FindStringSubmatch(err.Error()); name != nil {
		err = fmt.Errorf("%w: %s", errNoTable, name[1])
	}
	return withNext(err, "spade sql 'SHOW TABLES' lists the tables and views")
}

// unknownName finds the name in the server's message.
var unknownName = regexp.MustCompile(`(?:identifier|Table|Database) [']?([^' ]+)[']?`)
