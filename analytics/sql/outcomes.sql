-- How a run's episodes ended, by arm; outcomes that are not the agent's doing count for no regret.
SELECT
    arm,
    outcome,
    count() AS episodes,
    avg(total_reward) AS mean_return,
    avg(steps) AS mean_steps,
    countIf(nondeterministic) AS nondeterministic
FROM spade.rollouts
WHERE run_id = {run:UUID}
GROUP BY arm, outcome
ORDER BY arm, episodes DESC, outcome
