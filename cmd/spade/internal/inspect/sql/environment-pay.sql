SELECT round(reward, 4) AS reward, round(regret_part, 4) AS regret_part, round(validity_part, 4) AS validity_part,
    round(novelty_part, 4) AS novelty_part, round(coverage_part, 4) AS coverage_part, round(guard_part, 4) AS guard_part
FROM spade.designer_rewards
WHERE env_id = toUUID(@id)
