// Package migrations makes the warehouse's tables and views and refuses a warehouse that another version of them was installed
// in. The statements come from schemas/tables. Begin with Install.
package migrations
