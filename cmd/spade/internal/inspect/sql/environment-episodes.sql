SELECT arm, count() AS episodes, countIf(outcome = 'solved') AS solved, round(avg(total_reward), 4) AS mean_reward,
    round(avg(steps), 2) AS mean_steps, countIf(outcome NOT IN ('solved', 'failed')) AS other_outcomes
FROM spade.rollouts
WHERE env_id = toUUID(@id)
GROUP BY arm
ORDER BY arm DESC
