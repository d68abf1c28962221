SELECT reject_stage AS stage, count() AS designs, any(reject_reason) AS example
FROM spade.environments
WHERE run_id = toUUID(@id) AND status = 'rejected'
GROUP BY reject_stage
ORDER BY designs DESC, stage
