SELECT a.batch_id AS batch_id, b.iteration AS iteration, b.policy_version AS trains_policy, round(a.reward, 4) AS reward,
    round(a.advantage, 4) AS advantage, a.estimator AS estimator
FROM spade.advantages AS a
LEFT JOIN spade.batches AS b ON b.batch_id = a.batch_id
WHERE a.rollout_id = toUUID(@id)
ORDER BY iteration
