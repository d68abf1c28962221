-- Novelty of a run's accepted designs by iteration: 1 - similarity to the nearest earlier one.
SELECT
    iteration,
    count() AS environments,
    min(novelty) AS lowest,
    quantileExact(0.5)(novelty) AS median,
    max(novelty) AS highest,
    countIf(nearest_env_id IS NULL) AS first_of_memory
FROM spade.environments
WHERE run_id = {run:UUID} AND status = 'accepted'
GROUP BY iteration
ORDER BY iteration
