-- Why designs of a run were refused: the check that failed, how often, and an example.
SELECT
    reject_stage AS stage,
    count() AS designs,
    round(designs / sum(designs) OVER (), 4) AS share,
    min(iteration) AS first_iteration,
    max(iteration) AS last_iteration,
    argMin(reject_reason, (iteration, slot, attempt)) AS example
FROM spade.environments
WHERE run_id = {run:UUID} AND status = 'rejected'
GROUP BY reject_stage
ORDER BY designs DESC, stage
