-- The line of a run's policy versions; void rows lost to an earlier record and changed nothing.
SELECT
    policy_from,
    policy_to,
    iteration,
    void,
    trainer,
    device,
    reward_mean,
    loss,
    kl,
    entropy,
    duration_ms,
    checkpoint_bytes,
    left(checkpoint_sha256, 12) AS checkpoint
FROM spade.policies
WHERE run_id = {run:UUID}
ORDER BY policy_from, kafka_offset
