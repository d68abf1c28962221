SELECT rollout_id, arm, outcome, total_reward, verify_score, steps, terminated, truncated, stop_reason, error, env_seed, repeat,
    policy_version, staleness, model, nondeterministic, sandbox_tier, started_at, finished_at
FROM spade.rollouts
WHERE rollout_id = toUUID(@id)
