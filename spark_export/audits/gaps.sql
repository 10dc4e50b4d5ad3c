-- Numbers between the entries of a log that are in nobody's export.
WITH entries AS (SELECT DISTINCT node, seq FROM log),
steps AS (
    SELECT node, seq, lag(seq, 1, 0) OVER (PARTITION BY node ORDER BY seq) AS before FROM entries
)
SELECT
    coalesce(n.name, s.node) AS member,
    s.node,
    s.before + 1 AS first_missing,
    s.seq - 1 AS last_missing,
    (SELECT min(hash) FROM log l WHERE l.node = s.node AND l.seq = s.seq) AS proof
FROM steps s
LEFT JOIN names n ON n.node = s.node
WHERE s.seq > s.before + 1
ORDER BY s.node, s.seq
