SELECT policy_from, policy_to, iteration, roles, trainer, reward_mean, checkpoint_bytes
FROM spade.policies
WHERE run_id = toUUID(@id) AND NOT void
ORDER BY policy_from DESC
LIMIT 10
