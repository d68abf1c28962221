-- A run's course: return without and with the hint, regret and accepted share, iteration by iteration.
SELECT
    iteration,
    policy_version,
    reward_plain,
    reward_hinted,
    regret,
    unlearnable_gap_share,
    accepted / designed AS accepted_share,
    rollouts_completed AS rollouts,
    steps
FROM spade.iterations
WHERE run_id = {run:UUID}
ORDER BY iteration
