-- What the designer was paid for in a run, part by part, by iteration.
SELECT
    iteration,
    count() AS designs,
    avg(reward) AS mean_pay,
    avg(regret_part) AS regret,
    avg(validity_part) AS validity,
    avg(novelty_part) AS novelty,
    avg(coverage_part) AS coverage,
    avg(guard_part) AS guard,
    countIf(NOT measured) AS unmeasured
FROM spade.designer_rewards
WHERE run_id = {run:UUID}
GROUP BY iteration
ORDER BY iteration
