-- Coverage of a run: how its accepted designs spread over kinds, and what each kind yields.
SELECT
    e.kind AS kind,
    count() AS environments,
    round(environments / sum(environments) OVER (), 4) AS share,
    avg(e.novelty) AS mean_novelty,
    avg(r.regret) AS mean_regret,
    avg(r.reward_plain) AS mean_plain
FROM spade.environments AS e
LEFT JOIN (SELECT * FROM spade.regrets WHERE run_id = {run:UUID} AND chosen) AS r ON r.run_id = e.run_id AND r.env_id = e.env_id
WHERE e.run_id = {run:UUID} AND e.status = 'accepted'
GROUP BY e.kind
ORDER BY environments DESC, kind
