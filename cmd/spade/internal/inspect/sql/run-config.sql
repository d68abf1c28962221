SELECT pair.1 AS key, pair.2 AS value
FROM (SELECT kind, config FROM spade.runs WHERE run_id = toUUID(@id))
ARRAY JOIN JSONExtractKeysAndValuesRaw(config) AS pair
WHERE (kind != 'pool' OR key IN ('max_steps_budget', 'allow_unsolved'))
    AND NOT (key = 'runtime' AND startsWith(JSONExtractString(config, 'designer'), 'fixed:'))
