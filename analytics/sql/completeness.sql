-- Whether every slot, episode and group of a run has come to its one end: nothing is in flight when it has.
SELECT
    (SELECT count() FROM spade.environments WHERE run_id = {run:UUID}) AS designed,
    (SELECT countIf(status = 'accepted') FROM spade.environments WHERE run_id = {run:UUID}) AS accepted,
    (SELECT countIf(status = 'rejected') FROM spade.environments WHERE run_id = {run:UUID}) AS rejected,
    designed - accepted - rejected AS designs_in_flight,
    (SELECT sum(expected_plain + expected_hinted) FROM spade.environment_events WHERE run_id = {run:UUID} AND event = 'accepted') AS episodes_expected,
    (SELECT count() FROM spade.rollouts WHERE run_id = {run:UUID}) AS episodes_played,
    (SELECT count() FROM spade.dropped_rollouts WHERE run_id = {run:UUID}) AS episodes_dropped,
    (SELECT uniqExact(env_id) FROM spade.regrets WHERE run_id = {run:UUID}) AS groups_closed,
    (SELECT countIf(expected_plain + expected_hinted > 0) FROM spade.environment_events WHERE run_id = {run:UUID} AND event = 'accepted')
        - groups_closed AS groups_in_flight
