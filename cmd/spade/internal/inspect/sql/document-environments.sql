SELECT e.iteration AS iteration, e.slot AS slot, e.status AS status, e.title AS title, d.env_id AS env_id
FROM spade.environment_documents AS d
LEFT JOIN spade.environments AS e ON e.env_id = d.env_id
WHERE d.document_id = toUUID(@id)
ORDER BY e.run_id, iteration, slot, e.attempt
LIMIT 50
