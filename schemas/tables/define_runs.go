package tables

func runEvents() *Table {
	return &Table{
		Name:    RunEvents,
		Comment: "life of every run: one row per RunStarted, RunResumed and RunFinished; query runs for one row per run",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("event", typLow, "started, resumed or finished"),
			col("name", typString, "name the run was given; started only"),
			col("kind", typLow, "train, fork or ablation; pool: an import of environments; started only"),
			col("parent_run_id", typUUIDNull, "run that a fork or ablation came from"),
			col("fork_iteration", typInt32Null, "first iteration that differs from the parent's"),
			col("exactness", typLow, "forks: exact, estimate or fresh; empty otherwise"),
			col("exact_until", typInt32Null, "forks: iteration up to which the fork equals a run from scratch"),
			col("seed", typUInt64, "seed of all randomness; started only"),
			col("ablations", typStrings, "parts that were switched off"),
			col("config", typString, "semantic configuration as JSON; started only"),
			col("deployment", typString, "deployment configuration as JSON; started only"),
			col("architecture", typLow, "architecture of the payloads' floating point; started only"),
			col("documents_sha256", typString, "digest of the documents the run may sample, hexadecimal; started only"),
			col("documents_count", typInt64, "documents the run may sample; started only"),
			col("code_version", typLow, "version of the program that made the event"),
			col("iteration", typInt32Null, "iteration at which the run was taken up again; resumed only"),
			col("status", typLow, "running, finished, cancelled or failed, as of this event"),
			col("iterations", typInt32, "iterations closed; finished only"),
			col("designed", typInt64, "designs; finished only"),
			col("accepted", typInt64, "designs accepted; finished only"),
			col("rejected", typInt64, "designs rejected; finished only"),
			col("rollouts", typInt64, "episodes played; finished only"),
			col("steps", typInt64, "steps played; finished only"),
			col("first_regret", typFloatNull, "mean regret of the first iteration; finished only"),
			col("last_regret", typFloatNull, "mean regret of the last iteration; finished only"),
			col("first_reward_plain", typFloatNull, "mean plain return of the first iteration; finished only"),
			col("last_reward_plain", typFloatNull, "mean plain return of the last iteration; finished only"),
			col("policy_version", typInt64Null, "policy version the run ended with; finished only"),
			col("error", typString, "why the run failed; finished only"),
			col("started_at", typTimeNull, "clock when the process began the run; started only"),
			since(2, col("sandbox_tier", typLow, "sandbox that environments run in; started only")),
		},
		OrderBy: []string{"run_id", "kafka_offset"},
	}
}

func iterations() *Table {
	return &Table{
		Name:    Iterations,
		Comment: "one row per closed iteration of a run",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("iteration", typInt32, "iteration, from 0"),
			col("designed", typInt32, "designs"),
			col("accepted", typInt32, "designs accepted"),
			col("rejected", typInt32, "designs rejected"),
			col("rollouts_completed", typInt32, "episodes played"),
			col("rollouts_dropped", typInt32, "episodes given up"),
			col("regrets_estimated", typInt32, "environments with a regret"),
			col("regrets_unavailable", typInt32, "environments with too few valid episodes for one"),
			col("policy_version", typInt64, "version the iteration was designed and played with"),
			col("accepted_before", typInt64, "designs accepted in earlier iterations, ancestors included"),
			col("steps", typInt64, "steps played"),
			col("reward_plain", typFloat, "mean return over valid plain episodes"),
			col("reward_hinted", typFloat, "mean return over valid hinted episodes"),
			col("regret", typFloat, "mean of the paying estimator over environments"),
			in("share", "unlearnable_gap_share", typFloat, "environments whose gap the hint guard refused to pay, of those with a gap"),
		},
		OrderBy: []string{"run_id", "iteration"},
	}
}

func runsView() View {
	return View{
		Name:    Runs,
		Comment: "one row per run",
		Columns: append([]Column{
			col("run_id", typUUID, "run"),
			col("name", typString, "name the run was given"),
			col("kind", typLow, "train, fork or ablation; pool: an import of environments"),
			col("parent_run_id", typUUIDNull, "run that a fork or ablation came from"),
			col("fork_iteration", typInt32Null, "first iteration that differs from the parent's"),
			col("exactness", typLow, "forks: exact, estimate or fresh; empty otherwise"),
			col("exact_until", typInt32Null, "forks: iteration up to which the fork equals a run from scratch"),
			col("seed", typUInt64, "seed of all randomness"),
			col("ablations", typStrings, "parts that were switched off"),
			col("config", typString, "semantic configuration as JSON"),
			col("code_version", typLow, "version of the program that started the run"),
			col("status", typLow, "running, finished, cancelled or failed"),
			col("started_at", typTimeNull, "when the run was started"),
			col("finished_at", typTimeNull, "when the run finished; NULL while it runs"),
			col("sandbox_tier", typLow, "sandbox that environments run in"),
		}, viewOrigin()...),
		Select: `
SELECT
    run_id,
    anyIf(e.name, event = 'started') AS name,
    anyIf(e.kind, event = 'started') AS kind,
    anyIf(e.parent_run_id, event = 'started') AS parent_run_id,
    anyIf(e.fork_iteration, event = 'started') AS fork_iteration,
    anyIf(e.exactness, event = 'started') AS exactness,
    anyIf(e.exact_until, event = 'started') AS exact_until,
    anyIf(e.seed, event = 'started') AS seed,
    anyIf(e.ablations, event = 'started') AS ablations,
    anyIf(e.config, event = 'started') AS config,
    anyIf(e.code_version, event = 'started') AS code_version,
    argMax(e.status, e.kafka_offset) AS status,
    anyIf(e.started_at, event = 'started') AS started_at,
    if(argMax(e.event, e.kafka_offset) = 'finished', max(e.event_time), NULL) AS finished_at,
    anyIf(e.sandbox_tier, event = 'started') AS sandbox_tier,
    argMin(e.event_id, e.kafka_offset) AS event_id,
    any(e.kafka_topic) AS kafka_topic,
    any(e.kafka_partition) AS kafka_partition,
    min(e.kafka_offset) AS kafka_offset,
    min(e.event_time) AS event_time,
    max(e.ingested_at) AS ingested_at
FROM ` + Database + `.run_events AS e
GROUP BY run_id`,
	}
}

// viewOrigin is the ingestion columns of a view that has one row per id: those of the id's first event.
func viewOrigin() []Column {
	return append(origin(), Column{Name: "ingested_at", Type: typTime, Comment: "when the newest of the id's rows was inserted"})
}
