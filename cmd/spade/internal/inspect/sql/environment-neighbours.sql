SELECT n.used_for AS used_for, n.rank AS rank, round(n.similarity, 4) AS similarity, e.title AS title, n.neighbour_id AS env_id
FROM spade.neighbours AS n
LEFT JOIN spade.environments AS e ON e.env_id = n.neighbour_id
WHERE n.env_id = toUUID(@id)
ORDER BY used_for DESC, rank
