SELECT pair.1 AS key, pair.2 AS value
FROM (SELECT config FROM spade.runs WHERE run_id = toUUID(@id))
ARRAY JOIN JSONExtractKeysAndValuesRaw(config) AS pair
