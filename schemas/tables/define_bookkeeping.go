package tables

// plans is what the sink intends to insert. A plan is finished when _offsets holds a next_offset past its last.
func plans() *Table {
	return &Table{
		Name: PlansTable, Bookkeeping: true,
		Comment: "ranges of the log that the sink set out to insert, one row before each batch",
		Columns: []Column{
			col("sink", typLow, "consumer group of the sink"),
			col("topic_id", typLow, "topic of the range"),
			incarnation(),
			col("partition", typInt32, "partition of the range"),
			col("first", typInt64, "offset of the batch's first event"),
			col("last", typInt64, "offset of the batch's last event"),
			col("generation", typInt32, "generation of the consumer group that planned it"),
			col("writer", typUInt64, "token of the sink that planned it"),
			{Name: "planned_at", Type: typTime, Default: fenced("topic_id", "partition"), Comment: "when it was planned"},
		},
		OrderBy: []string{"sink", "topic_id", "partition", "first"},
	}
}

// offsets is how far the warehouse holds the log.
func offsets() *Table {
	return &Table{
		Name: OffsetsTable, Bookkeeping: true,
		Comment: "how far the warehouse holds each partition of the log, one row after each batch",
		Columns: []Column{
			col("sink", typLow, "consumer group of the sink"),
			col("topic_id", typLow, "topic"),
			incarnation(),
			col("partition", typInt32, "partition"),
			col("next_offset", typInt64, "every event before this offset is in the warehouse"),
			col("generation", typInt32, "generation of the consumer group that inserted it"),
			col("writer", typUInt64, "token of the sink that inserted it"),
			{Name: "finished_at", Type: typTime, Default: fenced("topic_id", "partition"), Comment: "when the batch was complete"},
		},
		OrderBy: []string{"sink", "topic_id", "partition", "next_offset"},
	}
}

// incarnation tells a topic from another one that had its name.
func incarnation() Column {
	return since(3, col("incarnation", typLow, "id that Kafka gave the topic when it was created; empty when it gave none"))
}

// claims holds the one writer that may insert rows of a partition. It is a Join table because joinGet reads it inside an
// insert; the last claim wins.
func claims() *Table {
	return &Table{
		Name: ClaimsTable, Bookkeeping: true,
		Comment: "the sink that may insert rows of a partition; the last claim wins",
		Engine:  "Join(ANY, LEFT, place) SETTINGS join_any_take_last_row = 1",
		Columns: []Column{
			col("place", typString, "topic and partition, joined by a colon"),
			col("writer", typUInt64, "token of the sink that claimed it"),
		},
	}
}

func schemaVersions() *Table {
	return &Table{
		Name: SchemaTable, Bookkeeping: true,
		Comment: "versions of these definitions that were installed here",
		Columns: []Column{
			col("version", typInt32, "version of the definitions"),
			{Name: "installed_at", Type: typTime, Default: "DEFAULT now64(6)", Comment: "when they were installed"},
		},
		OrderBy: []string{"version"},
	}
}
