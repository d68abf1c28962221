-- Records that could not be decoded or applied: how many of each kind, the latest of each and why.
SELECT
    topic,
    consumer,
    count() AS records,
    max(event_time) AS latest,
    argMax(error, event_time) AS error
FROM spade.dead_letters
GROUP BY topic, consumer
ORDER BY records DESC, topic, consumer
