-- Every run, newest first: how it ended, what it cost, and where plain return and regret began and ended.
SELECT
    r.run_id AS run_id,
    r.name AS name,
    r.kind AS kind,
    r.seed AS seed,
    r.status AS status,
    r.started_at AS started_at,
    dateDiff('second', r.started_at, r.finished_at) AS seconds,
    uniqExactIf(i.iteration, i.run_id = r.run_id) AS iterations,
    sum(i.designed) AS designed,
    sum(i.accepted) AS accepted,
    sum(i.rejected) AS rejected,
    sum(i.rollouts_completed) AS rollouts,
    sum(i.steps) AS steps,
    argMin(i.reward_plain, i.iteration) AS first_plain,
    argMax(i.reward_plain, i.iteration) AS last_plain,
    argMin(i.regret, i.iteration) AS first_regret,
    argMax(i.regret, i.iteration) AS last_regret
FROM spade.runs AS r
LEFT JOIN spade.iterations AS i ON i.run_id = r.run_id
GROUP BY r.run_id, r.name, r.kind, r.seed, r.status, r.started_at, r.finished_at
ORDER BY started_at DESC, name
