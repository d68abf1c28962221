package runs

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seed256f7767/spade/schemas/spadepb"
)

// ErrDiffers says that a run of that name exists with another seed or semantic configuration.
var ErrDiffers = errors.New("a run of this name exists with another seed or configuration")

// Check compares what a user asks for with the run of that name. The error wraps ErrDiffers and names every difference.
func Check(run Run, spec Spec) error {
	var differs []string
	if kind := cmp.Or(spec.Kind, KindTrain); run.Started.GetKind() != kind {
		differs = append(differs, fmt.Sprintf("kind is %s, asked for %s", run.Started.GetKind(), kind))
	}
	if run.Seed != spec.Seed {
		differs = append(differs, fmt.Sprintf("seed is %d, asked for %d", run.Seed, spec.Seed))
	}
	differs = append(differs, diffConfig(run.Config, spec.Config)...)
	pinned, asked := run.Started.GetDocuments(), Pin(spec.Documents)
	if !spec.Unnamed && string(pinned.GetSha256()) != string(asked.GetSha256()) {
		differs = append(differs, fmt.Sprintf("documents are %d, asked for %d that are not the same",
			pinned.GetCount(), asked.GetCount()))
	}
	differs = append(differs, diffPool(run.Started.GetPool(), spec.Pool)...)
	if differs == nil {
		return nil
	}
	return fmt.Errorf("run %q: %w: %s", run.Name, ErrDiffers, strings.Join(differs, "; "))
}

func diffConfig(have, want *spadepb.SemanticConfig) []string {
	var differs []string
	a, b := have.ProtoReflect(), want.ProtoReflect()
	fields := a.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if show(a, f) != show(b, f) {
			differs = append(differs, fmt.Sprintf("%s is %s, asked for %s", f.Name(), show(a, f), show(b, f)))
		}
	}
	return differs
}

// show renders a field for a person; lists of messages render as their text form.
func show(m protoreflect.Message, f protoreflect.FieldDescriptor) string {
	if !f.IsList() {
		return fmt.Sprint(m.Get(f).Interface())
	}
	list := m.Get(f).List()
	parts := make([]string, list.Len())
	for i := range parts {
		if f.Message() == nil {
			parts[i] = list.Get(i).String()
			continue
		}
		w, _ := list.Get(i).Message().Interface().(*spadepb.Weight)
		parts[i] = fmt.Sprintf("%s=%g", w.GetName(), w.GetValue())
	}
	return "[" + strings.Join(parts, " ") + "]"
}
