-- The documents that grounded a run's designs: how often each was shown, and what came of it.
SELECT
    d.title AS title,
    d.document_id AS document_id,
    count() AS designs,
    countIf(e.status = 'accepted') AS accepted,
    avg(g.score) AS mean_score
FROM spade.environment_documents AS g
INNER JOIN spade.environments AS e ON e.run_id = g.run_id AND e.env_id = g.env_id
LEFT JOIN spade.documents AS d ON d.document_id = g.document_id
WHERE g.run_id = {run:UUID} AND e.run_id = {run:UUID}
GROUP BY d.title, d.document_id
ORDER BY designs DESC, title, document_id
