SELECT d.rank AS rank, round(d.score, 4) AS score, t.title AS title, d.document_id AS document_id
FROM spade.environment_documents AS d
LEFT JOIN spade.documents AS t ON t.document_id = d.document_id
WHERE d.env_id = toUUID(@id)
ORDER BY rank
