SELECT r.name AS run, o.run_id AS run_id, e.title AS environment, o.env_id AS env_id, o.iteration AS iteration, e.slot AS slot,
    e.attempt AS attempt, o.group_id AS group_id
FROM spade.rollouts AS o
LEFT JOIN spade.environments AS e ON e.env_id = o.env_id
LEFT JOIN spade.runs AS r ON r.run_id = o.run_id
WHERE o.rollout_id = toUUID(@id)
