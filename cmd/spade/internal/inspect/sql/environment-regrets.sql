SELECT estimator, chosen, round(regret, 4) AS regret, round(stderr, 4) AS stderr, n_hinted, n_plain, n_pairs, guarded, reason
FROM spade.regrets
WHERE env_id = toUUID(@id)
ORDER BY chosen DESC, estimator
