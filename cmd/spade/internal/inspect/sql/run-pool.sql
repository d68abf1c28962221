SELECT name, status, kind, runtime, package_version AS version, reject_stage, env_id
FROM spade.environments
WHERE run_id = toUUID(@id) AND name != '' AND pool_env_id IS NULL
ORDER BY slot
