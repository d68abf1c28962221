package tables

import "fmt"

// Names of the tables and views that code refers to.
const (
	RunEvents            = "run_events"
	Iterations           = "iterations"
	DocumentEvents       = "document_events"
	Embeddings           = "embeddings"
	DesignRequests       = "design_requests"
	EnvironmentEvents    = "environment_events"
	EnvironmentDocuments = "environment_documents"
	Neighbours           = "neighbours"
	Rollouts             = "rollouts"
	DroppedRollouts      = "dropped_rollouts"
	Steps                = "steps"
	Regrets              = "regrets"
	DesignerRewards      = "designer_rewards"
	Batches              = "batches"
	Advantages           = "advantages"
	PolicyEvents         = "policy_events"
	Evaluations          = "evaluations"
	ReplayChecks         = "replay_checks"
	DeadLetters          = "dead_letters"

	Runs         = "runs"
	Documents    = "documents"
	Environments = "environments"
	Policies     = "policies"

	PlansTable   = "_plans"
	OffsetsTable = "_offsets"
	ClaimsTable  = "_claims"
	SchemaTable  = "_schema"
)

// Catalogue is every definition. It is only read once it is made and may be shared.
type Catalogue struct {
	Tables []*Table // in the order in which they must be created
	Views  []View

	byName map[string]*Table
}

// New makes the catalogue.
func New() (*Catalogue, error) {
	c := &Catalogue{
		Tables: []*Table{
			claims(), plans(), offsets(), schemaVersions(),
			runEvents(), iterations(),
			documentEvents(), embeddings(),
			designRequests(), environmentEvents(), environmentDocuments(), neighbours(),
			rollouts(), droppedRollouts(), steps(),
			regrets(), designerRewards(),
			batches(), advantages(), policyEvents(),
			evaluations(), replayChecks(), deadLetters(),
		},
		Views:  []View{runsView(), documentsView(), environmentsView(), policiesView()},
		byName: map[string]*Table{},
	}
	for _, t := range c.Tables {
		if err := t.finish(); err != nil {
			return nil, err
		}
		c.byName[t.Name] = t
	}
	return c, nil
}

// Table finds a table by name.
func (c *Catalogue) Table(name string) (*Table, error) {
	t, ok := c.byName[name]
	if !ok {
		return nil, fmt.Errorf("no table %q", name)
	}
	return t, nil
}
