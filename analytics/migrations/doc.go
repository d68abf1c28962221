// Package migrations makes the warehouse's tables and views and brings a warehouse of an older version up to this one. It
// refuses one of a newer version. The statements come from schemas/tables. Begin with Install.
package migrations
