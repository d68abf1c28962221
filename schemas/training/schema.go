package training

import (
	"github.com/apache/arrow/go/v17/arrow"
)

// FormatVersion is the version of the schema, carried in its metadata under "spade.training".
const FormatVersion = "1"

// Roles of a row.
const (
	RoleAgent    = "agent"
	RoleDesigner = "designer"
)

// Names of the columns, in schema order.
const (
	ColRole          = "role"
	ColRolloutID     = "rollout_id"
	ColEnvID         = "env_id"
	ColGroupID       = "group_id"
	ColArm           = "arm"
	ColIteration     = "iteration"
	ColPolicyVersion = "policy_version"
	ColStep          = "step"
	ColSeed          = "seed"
	ColMessages      = "messages"
	ColChoices       = "choices"
	ColCompletion    = "completion"
	ColTokenIDs      = "token_ids"
	ColLossMask      = "loss_mask"
	ColLogprobs      = "logprobs"
	ColReward        = "reward"
	ColAdvantage     = "advantage"
)

func column(name string, typ arrow.DataType, comment string) arrow.Field {
	return arrow.Field{Name: name, Type: typ, Metadata: arrow.NewMetadata([]string{"comment"}, []string{comment})}
}

func messageType() arrow.DataType {
	return arrow.ListOfNonNullable(arrow.StructOf(
		arrow.Field{Name: "role", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "content", Type: arrow.BinaryTypes.String},
	))
}

// Schema returns the schema of a training batch. No column is nullable: what a role lacks is empty or zero.
func Schema() *arrow.Schema {
	str := arrow.BinaryTypes.String
	fields := []arrow.Field{
		column(ColRole, str, "who decided: agent or designer"),
		column(ColRolloutID, str, "rollout of the decision; empty for a designer"),
		column(ColEnvID, str, "environment that was played or designed"),
		column(ColGroupID, str, "rows with one group id share a baseline"),
		column(ColArm, str, "plain or hinted; empty for a designer"),
		column(ColIteration, arrow.PrimitiveTypes.Int32, "iteration, from 0"),
		column(ColPolicyVersion, arrow.PrimitiveTypes.Int64, "policy version that decided"),
		column(ColStep, arrow.PrimitiveTypes.Int32, "step in the rollout, from 0"),
		column(ColSeed, arrow.PrimitiveTypes.Uint64, "seed that the policy decided with"),
		column(ColMessages, messageType(), "the prompt as it was sent"),
		column(ColChoices, arrow.ListOfNonNullable(str), "legal answers, when there was a list"),
		column(ColCompletion, str, "the answer"),
		column(ColTokenIDs, arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32), "exact tokens of the answer"),
		column(ColLossMask, arrow.ListOfNonNullable(arrow.FixedWidthTypes.Boolean), "tokens that count in the loss; empty: all"),
		column(ColLogprobs, arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32), "log-probability of each token when it was drawn"),
		column(ColReward, arrow.PrimitiveTypes.Float64, "an agent's return of the rollout, or a designer's pay"),
		column(ColAdvantage, arrow.PrimitiveTypes.Float64, "advantage in the group; zero for a designer paid by reward"),
	}
	meta := arrow.NewMetadata([]string{"spade.training"}, []string{FormatVersion})
	return arrow.NewSchema(fields, &meta)
}
