-- What an id stands for.
SELECT 'run' AS kind FROM spade.runs WHERE run_id = toUUID(@id)
UNION ALL
SELECT 'environment' AS kind FROM spade.environments WHERE env_id = toUUID(@id)
UNION ALL
SELECT 'rollout' AS kind FROM spade.rollouts WHERE rollout_id = toUUID(@id)
UNION ALL
SELECT 'document' AS kind FROM spade.documents WHERE document_id = toUUID(@id)
