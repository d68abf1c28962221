SELECT hint
FROM spade.rollouts
WHERE env_id = toUUID(@id) AND arm = 'hinted' AND hint != ''
ORDER BY env_seed, repeat
LIMIT 1
