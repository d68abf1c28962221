SELECT observation, action, round(reward, 6) AS reward, round(logprob, 4) AS logprob, step, tool_name, terminated, truncated
FROM spade.steps
WHERE rollout_id = toUUID(@id)
ORDER BY step
