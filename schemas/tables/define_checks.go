package tables

func evaluations() *Table {
	return &Table{
		Name:    Evaluations,
		Comment: "one row per episode of a held-out task",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("policy_version", typInt64, "policy version that acted"),
			col("suite", typLow, "suite of the task"),
			col("suite_sha256", typString, "digest of the suite's sources, hexadecimal"),
			col("task_id", typString, "task"),
			col("category", typLow, "math, science, code, reasoning, tools or games"),
			col("kind", typLow, "reasoning, tools or game"),
			col("env_seed", typUInt64, "seed the task was reset with"),
			col("seed_index", typInt32, "place of the seed among the task's, from 0"),
			col("reward", typFloat, "return of the episode, in [0, 1]"),
			col("success", typBool, "the task was solved"),
			col("milestones", typStrings, "milestones that were reached"),
			col("outcome", typLow, "outcome of the episode"),
			col("steps", typInt32, "steps played"),
			col("nearest_designed_env", typUUIDNull, "the run's environment that is nearest to the task"),
			in("cosine", "nearest_similarity", typFloatNull, "how near"),
		},
		OrderBy: []string{"run_id", "policy_version", "suite", "task_id", "seed_index"},
	}
}

func replayChecks() *Table {
	return &Table{
		Name:    ReplayChecks,
		Comment: "recorded episodes that were executed again, and whether they came out equal",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("rollout_id", typUUID, "episode"),
			col("env_id", typUUID, "environment"),
			col("equal", typBool, "the execution equals the record"),
			col("first_divergent_step", typInt32Null, "first step that differs, from 0; NULL when equal"),
			col("cause", typString, "why it differs, as far as known"),
		},
		OrderBy: []string{"run_id", "env_id", "rollout_id"},
	}
}

func deadLetters() *Table {
	return &Table{
		Name:    DeadLetters,
		Comment: "records that could not be decoded or applied",
		Columns: []Column{
			col("topic", typLow, "topic of the record"),
			col("partition", typInt32, "partition of the record"),
			col("offset", typInt64, "offset of the record"),
			col("error", typString, "why it could not be decoded or applied"),
			col("payload", typString, "the record's bytes"),
			col("key", typString, "the record's key"),
			col("consumer", typLow, "who gave it up"),
		},
		OrderBy: []string{"topic", "partition", "offset"},
	}
}
