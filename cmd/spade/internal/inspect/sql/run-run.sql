SELECT name, run_id, kind, status, seed, started_at, finished_at, parent_run_id, fork_iteration, ablations, code_version,
    sandbox_tier
FROM spade.runs
WHERE run_id = toUUID(@id)
