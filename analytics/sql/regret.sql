-- Regret of a run by iteration and estimator: mean and standard error over environments, and how many had one.
SELECT
    iteration,
    estimator,
    any(chosen) AS pays,
    avg(regret) AS mean_regret,
    if(count(regret) > 1, stddevSamp(regret) / sqrt(count(regret)), NULL) AS standard_error,
    count(regret) AS environments,
    countIf(guarded) AS guarded
FROM spade.regrets
WHERE run_id = {run:UUID} AND estimator != ''
GROUP BY iteration, estimator
ORDER BY iteration, estimator
