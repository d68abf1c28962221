package telemetry

import (
	"slices"
)

// Kind is what a metric's value does.
type Kind string

// Kinds of metrics.
const (
	Counter   Kind = "counter"   // only grows while the process lives
	Gauge     Kind = "gauge"     // the value of now
	Histogram Kind = "histogram" // seconds by bucket
)

// Metric is one entry of the catalogue.
type Metric struct {
	Name, Help string
	Kind       Kind
	Labels     []string
	// Max joins two values of the same labels by taking the greater; else they are added.
	Max bool
}

// Names of the metrics.
const (
	LogUp            = "spade_log_up"
	LogAppended      = "spade_log_appended_records_total"
	LogAppendedBytes = "spade_log_appended_bytes_total"
	LogFetched       = "spade_log_fetched_records_total"
	LogFetchedBytes  = "spade_log_fetched_bytes_total"
	LogRetries       = "spade_log_retries_total"
	LogStalls        = "spade_log_stalls_total"
	LogUndecodable   = "spade_log_undecodable_records_total"
	LogCommits       = "spade_log_commits_total"
	LogRebalances    = "spade_log_rebalances_total"
	LogAppendTime    = "spade_log_append_duration_seconds"

	ConsumerLag        = "spade_consumer_lag_records"
	ConsumerAge        = "spade_consumer_oldest_record_age_seconds"
	ConsumerPartitions = "spade_consumer_partitions"
	ConsumerJoined     = "spade_consumer_joined_groups"
	ConsumerGroups     = "spade_consumer_groups"

	Events              = "spade_events_appended_total"
	Environments        = "spade_environments_total"
	Episodes            = "spade_episodes_total"
	EpisodesDropped     = "spade_episodes_dropped_total"
	DeadLetters         = "spade_dead_letters_total"
	TrainingGroups      = "spade_training_groups_total"
	TrainingGroupsEmpty = "spade_training_groups_without_signal_total"
	DesignTime          = "spade_design_duration_seconds"
	EpisodeTime         = "spade_episode_duration_seconds"
	TrainTime           = "spade_train_duration_seconds"

	RunIteration   = "spade_run_iteration"
	RunVersion     = "spade_run_policy_version"
	RunUnlearnable = "spade_run_unlearnable_gap_share"
	RunProgress    = "spade_run_last_progress_timestamp_seconds"
	RunLeader      = "spade_run_leader"

	WarehouseEvents   = "spade_warehouse_events_total"
	WarehouseRows     = "spade_warehouse_rows_total"
	WarehouseFlushes  = "spade_warehouse_flushes_total"
	WarehouseFlush    = "spade_warehouse_flush_duration_seconds"
	WarehouseRepeats  = "spade_warehouse_duplicate_events_total"
	WarehouseRepaired = "spade_warehouse_plans_repeated_total"
	WarehouseFenced   = "spade_warehouse_fenced_total"
	WarehouseRetries  = "spade_warehouse_retries_total"

	MemoryPoints = "spade_memory_points_written_total"
	MemoryFlush  = "spade_memory_flush_duration_seconds"

	SandboxSlots   = "spade_sandbox_slots"
	SandboxOpen    = "spade_sandbox_workers"
	SandboxWaiting = "spade_sandbox_waiting"
	SandboxStarted = "spade_sandbox_started_total"
	SandboxFailed  = "spade_sandbox_start_failures_total"
	SandboxKilled  = "spade_sandbox_killed_total"

	GenerateTime   = "spade_generate_duration_seconds"
	GenerateErrors = "spade_generate_failures_total"
	PluginRestarts = "spade_plugin_restarts_total"

	DataFree = "spade_data_free_bytes"
	DataSize = "spade_data_size_bytes"

	TraceSpans = "spade_trace_spans_total"

	BuildInfo = "spade_build_info"
	Draining  = "spade_draining"
)

// acknowledged ends the help of what is counted when a call to append is acknowledged whole: of one that fails nothing is,
// although some of its events may be in the log.
const acknowledged = " Counts acknowledged calls."

// Catalogue is every metric of the program, by name. Those of the Go runtime and the process come beside them.
func Catalogue() []Metric {
	role, topic, run := "role", "topic", "run"
	c := func(name, help string, labels ...string) Metric {
		return Metric{Name: name, Help: help, Kind: Counter, Labels: labels}
	}
	g := func(name, help string, labels ...string) Metric {
		return Metric{Name: name, Help: help, Kind: Gauge, Labels: labels}
	}
	most := func(m Metric) Metric { m.Max = true; return m }
	h := func(name, help string, labels ...string) Metric {
		return Metric{Name: name, Help: help, Kind: Histogram, Labels: labels}
	}
	all := []Metric{
		most(g(LogUp, "1 when the log answered the last question that was put to it every 5 s, else 0.")),
		c(LogAppended, "Records that the log acknowledged."),
		c(LogAppendedBytes, "Bytes of the records that the log acknowledged."),
		c(LogFetched, "Records read from the log."),
		c(LogFetchedBytes, "Bytes of keys and values read from the log."),
		c(LogRetries, "Requests to the log that were tried again."),
		c(LogStalls, "Times that a partition had records and yielded none for 30 s."),
		c(LogUndecodable, "Records that are no event; they go to dead letters."),
		c(LogCommits, "Offset commits that the log accepted."),
		c(LogRebalances, "Generations of consumer groups that this process joined."),
		h(LogAppendTime, "Time from appending events to the acknowledgement of all of them."),

		g(ConsumerLag, "Records of the partitions that this process holds that are not processed durably.", role, topic),
		most(g(ConsumerAge, "Age of the oldest record that was delivered and is not processed durably; 0 when there is none.", role, topic)),
		g(ConsumerPartitions, "Partition numbers that this process holds; 0 is standing by.", role),
		g(ConsumerJoined, "Consumer groups that count this process as a member now.", role),
		g(ConsumerGroups, "Consumer groups that this process takes part in, joined or about to.", role),

		c(Events, "Events that this process appended, by their type."+acknowledged, "type"),
		c(Environments, "Designs that the gate decided on, by verdict and by the stage that refused."+acknowledged, "verdict", "stage"),
		c(Episodes, "Episodes that were played to an end, by arm and outcome."+acknowledged, "arm", "outcome"),
		c(EpisodesDropped, "Expected episodes that were dropped."+acknowledged),
		c(DeadLetters, "Dead letters that this process appended, by the consumer that could not use a record."+acknowledged, "consumer"),
		c(TrainingGroups, "Groups of episodes or designs that were compared for training."+acknowledged, role),
		c(TrainingGroupsEmpty, "Of these, groups whose members all had the same reward, so that they teach nothing."+acknowledged, role),
		h(DesignTime, "Time that a design took, generation and retrieval included."+acknowledged),
		h(EpisodeTime, "Time that an episode took."+acknowledged),
		h(TrainTime, "Time that a policy update took."+acknowledged),

		most(g(RunIteration, "Iterations of the run that are closed, as of acknowledged calls. Told by the process that leads it.", run)),
		most(g(RunVersion, "Policy version of the run, as of acknowledged calls. Told by the process that leads it.", run)),
		most(g(RunUnlearnable, "Share of the last closed iteration's gaps that the guard refused to pay, as of acknowledged calls.", run)),
		most(g(RunProgress, "When a call of this process that appends an event of the run was last acknowledged, in seconds since 1970.", run)),
		most(g(RunLeader, "1 in the process that leads the run, 0 in those that stand by for it.", run)),

		c(WarehouseEvents, "Events in finished flushes to the warehouse."),
		c(WarehouseRows, "Rows in blocks inserted into the warehouse."),
		c(WarehouseFlushes, "Flushes to the warehouse that finished."),
		h(WarehouseFlush, "Time that a flush to the warehouse took, repeated statements included."),
		c(WarehouseRepeats, "Events left out because an earlier record had their id."),
		c(WarehouseRepaired, "Unfinished plans of an earlier writer that were repeated."),
		c(WarehouseFenced, "Flushes refused because another writer held the partition."),
		c(WarehouseRetries, "Statements to the warehouse that were tried again."),

		c(MemoryPoints, "Points written to the environment memory."),
		h(MemoryFlush, "Time that a write to the environment memory took."),

		g(SandboxSlots, "Sandboxed processes that may be in use at a time."),
		g(SandboxOpen, "Sandboxed processes in use, by the language of the environment.", "runtime"),
		g(SandboxWaiting, "Callers that wait for a sandboxed process to be free."),
		c(SandboxStarted, "Sandboxed processes that were given a source.", "runtime"),
		c(SandboxFailed, "Sandboxed processes that did not come up.", "runtime"),
		c(SandboxKilled, "Sandboxed processes that died or were ended before they were closed, by cause.", "runtime", "cause"),

		h(GenerateTime, "Time that a request for completions took.", role),
		c(GenerateErrors, "Requests for completions that failed.", role),
		c(PluginRestarts, "Times that the trainer plugin crashed and was started again."),

		most(g(DataFree, "Bytes that are free where the data folder is.")),
		most(g(DataSize, "Bytes that the file system of the data folder holds in all.")),

		c(TraceSpans, "Spans by what became of them: sent, dropped because the queue was full, or failed at the collector.", "result"),

		most(g(BuildInfo, "1, with the version of the program.", "version")),
		most(g(Draining, "1 while the process drains, else 0.")),
	}
	slices.SortFunc(all, func(a, b Metric) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}
