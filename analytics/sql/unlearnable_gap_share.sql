-- Of the environments of a run with a gap, the share whose hint carries facts that no observation holds, by iteration.
SELECT
    iteration,
    countIf(regret > 0) AS with_a_gap,
    countIf(regret > 0 AND guarded) AS unlearnable,
    if(with_a_gap > 0, unlearnable / with_a_gap, NULL) AS unlearnable_gap_share,
    avg(hidden_share) AS hidden_share
FROM spade.regrets
WHERE run_id = {run:UUID} AND chosen
GROUP BY iteration
ORDER BY iteration
