SELECT
    (SELECT count() FROM spade.environments WHERE run_id = toUUID(@id)) AS designed,
    (SELECT countIf(status = 'accepted') FROM spade.environments WHERE run_id = toUUID(@id)) AS accepted,
    (SELECT countIf(status = 'rejected') FROM spade.environments WHERE run_id = toUUID(@id)) AS rejected,
    (SELECT count() FROM spade.rollouts WHERE run_id = toUUID(@id)) AS rollouts,
    (SELECT count() FROM spade.dropped_rollouts WHERE run_id = toUUID(@id)) AS dropped_rollouts,
    (SELECT count() FROM spade.steps WHERE run_id = toUUID(@id)) AS steps
