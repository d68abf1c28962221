package tables

func designRequests() *Table {
	return &Table{
		Name:    DesignRequests,
		Comment: "one row per slot of an iteration that a design was asked for",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("env_id", typUUID, "environment of the slot's first attempt"),
			col("iteration", typInt32, "iteration, from 0"),
			col("slot", typInt32, "slot of the iteration, from 0"),
			col("policy_version", typInt64, "policy version asked to design"),
			col("memory_version", typInt64, "environments accepted in earlier iterations"),
			col("design_group", typUUIDNull, "designs whose pay is compared"),
			col("expected_designs", typInt32, "slots of the iteration"),
			col("expected_attempts", typInt32, "episodes per arm that an accepted design will get"),
		},
		OrderBy: []string{"run_id", "env_id"},
	}
}

func environmentEvents() *Table {
	return &Table{
		Name: EnvironmentEvents,
		Comment: "designs, append only: one row per EnvironmentDesigned, EnvironmentAccepted and EnvironmentRejected; query " +
			"environments for one row per environment",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("env_id", typUUID, "environment: one attempt at a slot"),
			col("event", typLow, "designed, accepted or rejected"),
			col("iteration", typInt32, "iteration, from 0"),
			col("slot", typInt32, "slot of the iteration, from 0"),
			col("attempt", typInt32, "attempt at the slot, from 0"),
			col("design_group", typUUIDNull, "designs whose pay is compared; designed only"),
			col("policy_version", typInt64, "policy version that designed"),
			col("runtime", typLow, "starlark or python; designed only"),
			col("kind", typLow, "reasoning, tools or game, as the code declares; empty in a designed row"),
			col("title", typString, "title the code declares; empty in a designed row"),
			col("code", typString, "source text; designed only"),
			col("code_sha256", typString, "digest of the code, hexadecimal; designed only"),
			col("document_ids", typUUIDs, "documents the designer saw, by rank; designed only"),
			col("recalled_env_ids", typUUIDs, "neighbours the designer saw, by rank; designed only"),
			col("memory_version", typInt64, "environments in the memory that was recalled from; designed only"),
			col("reject_stage", typLow, "check of the gate that failed; rejected only"),
			col("reject_reason", typString, "why it failed; rejected only"),
			col("last_attempt", typBool, "whether the slot ended with this rejection; rejected only"),
			col("novelty", typFloatNull, "1 - similarity of the nearest; NULL when there was no duplicate check"),
			col("nearest_env_id", typUUIDNull, "nearest environment in the memory"),
			in("cosine", "nearest_similarity", typFloatNull, "similarity of the nearest"),
			col("embedding_model", typLow, "embedding model of the duplicate check; accepted only"),
			col("prompt_sha256", typString, "digest of the prompt, hexadecimal; designed only"),
			col("prompt", typString, "prompt as a JSON array of {role, content}; designed only"),
			in("tokens", "prompt_tokens", typInt32, "length of the prompt; designed only"),
			in("tokens", "completion_tokens", typInt32, "length of the completion; designed only"),
			col("stop_reason", typLow, "why generation ended; designed only"),
			col("model", typLow, "model that designed; designed only"),
			in("ms", "design_ms", typFloatNull, "time the design took; designed only"),
			col("package", typString, "fixed pools: distribution that the environment comes from; designed only"),
			col("package_version", typString, "fixed pools: its version; designed only"),
			col("sandbox_tier", typLow, "sandbox the gate ran in"),
			col("worker", typLow, "worker that made the event"),
			col("max_steps", typInt32, "longest episode, as the code declares; accepted only"),
			col("expected_plain", typInt32, "plain episodes to come; accepted only"),
			col("expected_hinted", typInt32, "hinted episodes to come; accepted only"),
			col("stats", typMap, "figures the gate measured; accepted only"),
			since(2, col("name", typString, "fixed pools: what the environment is called there; designed only")),
			since(2, col("seed_from", typUInt64Null, "fixed pools: first env seed that is played; NULL for any; designed only")),
			since(2, col("seed_to", typUInt64Null, "fixed pools: last env seed that is played; NULL for any; designed only")),
			since(2, col("pool_env_id", typUUIDNull, "designer fixed:POOL: environment of the pool that this is; designed only")),
		},
		OrderBy: []string{"run_id", "env_id", "event"},
	}
}

func environmentDocuments() *Table {
	return &Table{
		Name:    EnvironmentDocuments,
		Comment: "documents that the designer saw for an environment",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("env_id", typUUID, "environment"),
			col("document_id", typUUID, "document"),
			col("rank", typInt32, "place in the prompt, from 0"),
			in("cosine", "score", typFloat, "score it was sampled with"),
		},
		OrderBy: []string{"run_id", "env_id", "rank"},
	}
}

func neighbours() *Table {
	return &Table{
		Name:    Neighbours,
		Comment: "environments that were found near another one, and what for",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("env_id", typUUID, "environment"),
			col("rank", typInt32, "place, from 0 = nearest"),
			col("neighbour_id", typUUID, "environment found near it"),
			in("cosine", "similarity", typFloat, "how near"),
			col("memory_version", typInt64Null, "environments in the memory that was searched; NULL for dedup, which also sees lower slots of the iteration"),
			col("used_for", typLow, "recall (shown to the designer) or dedup (duplicate check)"),
		},
		OrderBy: []string{"run_id", "env_id", "used_for", "rank"},
	}
}
