-- How long rows of each topic took from the event to the warehouse, in seconds.
SELECT
    kafka_topic,
    count() AS events,
    quantileExact(0.5)(seconds) AS median,
    quantileExact(0.99)(seconds) AS p99,
    max(seconds) AS longest
FROM
(
    SELECT kafka_topic, dateDiff('microsecond', event_time, ingested_at) / 1e6 AS seconds FROM spade.environment_events
    UNION ALL
    SELECT kafka_topic, dateDiff('microsecond', event_time, ingested_at) / 1e6 AS seconds FROM spade.rollouts
    UNION ALL
    SELECT kafka_topic, dateDiff('microsecond', event_time, ingested_at) / 1e6 AS seconds FROM spade.regrets
)
GROUP BY kafka_topic
ORDER BY kafka_topic
