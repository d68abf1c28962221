SELECT iteration, designed, accepted, rejected, rollouts_completed AS rollouts, steps,
    round(reward_plain, 4) AS plain, round(reward_hinted, 4) AS hinted, round(regret, 4) AS regret, policy_version AS policy
FROM spade.iterations
WHERE run_id = toUUID(@id)
ORDER BY iteration
