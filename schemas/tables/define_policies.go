package tables

func batches() *Table {
	return &Table{
		Name:    Batches,
		Comment: "one row per training batch",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("batch_id", typUUID, "batch"),
			col("role", typLow, "agent or designer"),
			col("iteration", typInt32, "iteration, from 0"),
			col("policy_version", typInt64, "policy version that the batch trains"),
			col("rows", typInt64, "Arrow rows"),
			col("sha256", typString, "digest of the Arrow rows, hexadecimal"),
			col("rollout_ids", typUUIDs, "episodes in the batch, in its order; empty for the designer's"),
			col("groups", typInt32, "groups that advantages were taken within"),
			col("groups_without_signal", typInt32, "groups whose rewards were all equal"),
		},
		OrderBy: []string{"run_id", "iteration", "role"},
	}
}

func advantages() *Table {
	return &Table{
		Name:    Advantages,
		Comment: "credit of every episode and design in a training batch",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("batch_id", typUUID, "batch"),
			col("role", typLow, "agent or designer"),
			col("rollout_id", typUUIDNull, "episode; NULL for a designer"),
			col("env_id", typUUID, "environment that was played or designed"),
			col("group_id", typUUIDNull, "rows of one group share a baseline"),
			col("estimator", typLow, "advantage estimator"),
			col("eps", typFloat, "added to the standard deviation before dividing"),
			col("ddof", typInt32, "delta degrees of freedom of the standard deviation"),
			col("reward", typFloat, "return of the episode, or pay of the design"),
			col("advantage", typFloat, "the credit"),
		},
		OrderBy: []string{"run_id", "batch_id", "env_id"},
	}
}

func policyEvents() *Table {
	return &Table{
		Name:    PolicyEvents,
		Comment: "policy updates as they were appended; query policies, which tells the update from void ones",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("policy_from", typInt64, "version before; -1 for the version a run begins with"),
			col("policy_to", typInt64, "version after"),
			col("iteration", typInt32, "iteration, from 0; -1 for the version a run begins with"),
			col("roles", typStrings, "roles that were trained"),
			col("batch_ids", typUUIDs, "batches that were trained on"),
			col("trainer", typLow, "trainer plugin"),
			col("trainer_version", typLow, "its version"),
			col("device", typLow, "device it trained on"),
			col("loss", typFloatNull, "loss, where the trainer reports it"),
			col("grad_norm", typFloatNull, "norm of the gradient, where the trainer reports it"),
			in("nats", "kl", typFloatNull, "divergence from the version before, where the trainer reports it"),
			in("nats", "entropy", typFloatNull, "entropy of the policy, where the trainer reports it"),
			col("reward_mean", typFloatNull, "mean reward of the batches, where the trainer reports it"),
			col("metrics", typMap, "everything the trainer reports, by name"),
			in("ms", "duration_ms", typFloatNull, "time the update took"),
			col("checkpoint_sha256", typString, "digest of the checkpoint, hexadecimal"),
			in("bytes", "checkpoint_bytes", typInt64, "size of the checkpoint"),
			col("checkpoint_uri", typString, "where the checkpoint lies; empty when it rides in the log"),
		},
		OrderBy: []string{"run_id", "policy_from", "kafka_offset"},
	}
}

func policiesView() View {
	t := policyEvents()
	columns := make([]Column, 0, len(t.Columns)+8)
	names := ""
	for _, c := range t.Columns {
		if c.Name != "metrics" {
			columns = append(columns, c)
			names += "    " + c.Name + ",\n"
		}
	}
	columns = append(columns, col("void", typBool, "an earlier record had already updated this version: this one does not count"))
	columns = append(columns, origin()...)
	columns = append(columns, Column{Name: "ingested_at", Type: typTime, Comment: "when the row was inserted"})
	return View{
		Name:    Policies,
		Comment: "policy updates: the first record per run and version is the update, later ones are void",
		Columns: columns,
		Select: `
SELECT
` + names + `    CAST(row_number() OVER (PARTITION BY run_id, policy_from ORDER BY kafka_offset) > 1, 'Bool') AS void,
    event_id,
    kafka_topic,
    kafka_partition,
    kafka_offset,
    event_time,
    ingested_at
FROM ` + Database + `.policy_events`,
	}
}
