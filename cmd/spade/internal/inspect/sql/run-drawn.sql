SELECT e.name AS environment, any(e.runtime) AS runtime, uniqExact(e.env_id) AS draws, countIf(r.arm = 'plain') AS plain_episodes,
    avgIf(r.total_reward, r.arm = 'plain' AND r.outcome NOT IN ('env_error', 'verifier_error', 'cancelled')) AS plain,
    avgOrNullIf(r.total_reward, r.arm = 'hinted' AND r.outcome NOT IN ('env_error', 'verifier_error', 'cancelled')) AS hinted
FROM spade.environments AS e
LEFT JOIN spade.rollouts AS r ON r.env_id = e.env_id AND r.run_id = e.run_id
WHERE e.run_id = toUUID(@id) AND e.pool_env_id IS NOT NULL
GROUP BY environment
ORDER BY environment
