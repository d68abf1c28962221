package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"
)

// maxNameLength is Qdrant's limit on collection and alias names.
const maxNameLength = 255

func checkName(what, name string) error {
	switch {
	case name == "":
		return errInvalid("%s name must not be empty", what)
	case len(name) > maxNameLength:
		return errInvalid("%s name is over %d bytes", what, maxNameLength)
	case strings.ContainsAny(name, "<>:\"/\\|?*\x00\x1f") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return errInvalid("%s name cannot contain any of <>:\"/\\|?* or control characters", what)
	}
	return nil
}

// ChangeAliases carries out all actions or none.
func (e *Engine) ChangeAliases(actions []*pb.AliasOperations) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	next := maps.Clone(e.aliases)
	for _, a := range actions {
		if err := e.changeAlias(next, a); err != nil {
			return err
		}
	}
	old := e.aliases
	e.aliases = next
	if err := e.save(); err != nil {
		e.aliases = old
		return err
	}
	return nil
}

func (e *Engine) changeAlias(next map[string]string, a *pb.AliasOperations) error {
	switch op := a.GetAction().(type) {
	case *pb.AliasOperations_CreateAlias:
		return e.createAlias(next, op.CreateAlias.GetAliasName(), op.CreateAlias.GetCollectionName())
	case *pb.AliasOperations_RenameAlias:
		from, to := op.RenameAlias.GetOldAliasName(), op.RenameAlias.GetNewAliasName()
		target, ok := next[from]
		if !ok {
			return errAlias(from)
		}
		delete(next, from)
		return e.createAlias(next, to, target)
	case *pb.AliasOperations_DeleteAlias:
		if _, ok := next[op.DeleteAlias.GetAliasName()]; !ok {
			return errAlias(op.DeleteAlias.GetAliasName())
		}
		delete(next, op.DeleteAlias.GetAliasName())
		return nil
	}
	return errInvalid("alias action of kind %T", a.GetAction())
}

func (e *Engine) createAlias(next map[string]string, alias, collection string) error {
	if err := checkName("Alias", alias); err != nil {
		return err
	}
	if _, ok := e.collections[collection]; !ok {
		return errNotFound(collection)
	}
	if _, taken := e.collections[alias]; taken {
		return &Error{Kind: Exists, Msg: fmt.Sprintf("Wrong input: Collection `%s` already exists!", alias)}
	}
	next[alias] = collection
	return nil
}

func errAlias(name string) error {
	return &Error{Kind: NotFound, Msg: fmt.Sprintf("Not found: Alias `%s` doesn't exist!", name)}
}

// Aliases lists the aliases of a collection, of all when collection is empty,
// sorted.
func (e *Engine) Aliases(collection string) []*pb.AliasDescription {
	e.mu.RLock()
	defer e.mu.RUnlock()
	var out []*pb.AliasDescription
	for alias, target := range e.aliases {
		if collection == "" || collection == target {
			out = append(out, &pb.AliasDescription{AliasName: alias, CollectionName: target})
		}
	}
	slices.SortFunc(out, func(a, b *pb.AliasDescription) int { return cmp.Compare(a.AliasName, b.AliasName) })
	return out
}
