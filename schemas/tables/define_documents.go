package tables

func documentEvents() *Table {
	return &Table{
		Name: DocumentEvents,
		Comment: "corpus, append only: one row per DocumentIngested and DocumentWithdrawn; the text of withdrawn documents is " +
			"removed; query documents for one row per document",
		Columns: []Column{
			col("document_id", typUUID, "document, or one chunk of it"),
			col("event", typLow, "ingested or withdrawn"),
			col("parent_id", typUUIDNull, "whole document that the chunk is part of; ingested only"),
			col("chunk", typInt32, "chunk of the whole document, from 0; ingested only"),
			col("chunks", typInt32, "chunks of the whole document; ingested only"),
			col("source", typString, "path relative to the folder that was added; ingested only"),
			col("title", typString, "title; ingested only"),
			col("text", typString, "text; ingested only"),
			col("sha256", typString, "digest of the text, hexadecimal; ingested only"),
			col("media_type", typLow, "media type of the source; ingested only"),
			col("reason", typString, "why the document was withdrawn; withdrawn only"),
		},
		OrderBy: []string{"document_id", "kafka_offset"},
	}
}

func embeddings() *Table {
	return &Table{
		Name: Embeddings,
		Comment: "vectors of documents and designs. With an embedding endpoint they come from EmbeddingComputed; with the " +
			"built-in embedder the sink computes them again from the text, and event_id is the document's or the design's",
		Columns: []Column{
			col("run_id", typUUIDNull, "run of the design; NULL for documents"),
			col("entity_id", typUUID, "document or environment"),
			col("entity_kind", typLow, "document or environment"),
			col("model", typLow, "embedding model"),
			col("dim", typInt32, "components of the vector"),
			col("vector", typVector, "the vector"),
		},
		OrderBy: []string{"entity_id", "model"},
	}
}

func documentsView() View {
	return View{
		Name:    Documents,
		Comment: "corpus that grounds the designer: one row per document or chunk",
		Columns: append([]Column{
			col("document_id", typUUID, "document, or one chunk of it"),
			col("parent_id", typUUIDNull, "whole document that the chunk is part of"),
			col("chunk", typInt32, "chunk of the whole document, from 0"),
			col("source", typString, "path relative to the folder that was added"),
			col("title", typString, "title"),
			col("text", typString, "text; empty once the document is withdrawn"),
			col("sha256", typString, "digest of the text, hexadecimal"),
			col("withdrawn", typBool, "whether the document was withdrawn"),
		}, viewOrigin()...),
		Select: `
SELECT
    document_id,
    anyIf(e.parent_id, event = 'ingested') AS parent_id,
    anyIf(e.chunk, event = 'ingested') AS chunk,
    anyIf(e.source, event = 'ingested') AS source,
    anyIf(e.title, event = 'ingested') AS title,
    if(argMax(e.event, e.kafka_offset) = 'withdrawn', '', argMaxIf(e.text, e.kafka_offset, event = 'ingested')) AS text,
    anyIf(e.sha256, event = 'ingested') AS sha256,
    CAST(argMax(e.event, e.kafka_offset) = 'withdrawn', 'Bool') AS withdrawn,
    argMin(e.event_id, e.kafka_offset) AS event_id,
    any(e.kafka_topic) AS kafka_topic,
    any(e.kafka_partition) AS kafka_partition,
    min(e.kafka_offset) AS kafka_offset,
    min(e.event_time) AS event_time,
    max(e.ingested_at) AS ingested_at
FROM ` + Database + `.document_events AS e
GROUP BY document_id
HAVING countIf(event = 'ingested') > 0`,
	}
}
