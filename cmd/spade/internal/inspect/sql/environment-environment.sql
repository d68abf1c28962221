SELECT e.title AS title, e.env_id AS env_id, e.kind AS kind, e.status AS status, e.reject_stage AS reject_stage,
    e.reject_reason AS reject_reason, r.name AS run, e.run_id AS run_id, e.iteration AS iteration, e.slot AS slot,
    e.attempt AS attempt, e.policy_version AS policy_version, e.runtime AS runtime, e.novelty AS novelty,
    e.nearest_env_id AS nearest_env_id, e.nearest_similarity AS nearest_similarity, e.memory_version AS memory_version,
    e.prompt_tokens AS prompt_tokens, e.completion_tokens AS completion_tokens, e.code_sha256 AS code_sha256,
    e.sandbox_tier AS sandbox_tier, e.name AS name, e.package AS package, e.package_version AS package_version,
    e.seed_from AS seed_from, e.seed_to AS seed_to, e.pool_env_id AS pool_env_id
FROM spade.environments AS e
LEFT JOIN spade.runs AS r ON r.run_id = e.run_id
WHERE e.env_id = toUUID(@id)
