SELECT title, document_id, source, chunk, parent_id, withdrawn, sha256
FROM spade.documents
WHERE document_id = toUUID(@id)
