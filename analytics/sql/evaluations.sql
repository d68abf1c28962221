-- Held-out suites of a run: mean reward and solved share by category, before the first update and after the last.
SELECT
    category,
    avgIf(reward, policy_version = first) AS before,
    avgIf(reward, policy_version = last) AS after,
    after - before AS gain,
    avgIf(success, policy_version = first) AS solved_before,
    avgIf(success, policy_version = last) AS solved_after,
    countIf(policy_version = last) AS episodes
FROM
(
    SELECT
        *,
        min(policy_version) OVER () AS first,
        max(policy_version) OVER () AS last
    FROM spade.evaluations
    WHERE run_id = {run:UUID}
)
GROUP BY category
ORDER BY category
