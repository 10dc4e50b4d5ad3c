-- Numbers between the entries of a log that are in nobody's export.
-- The entry after a gap is checked with its signature: one that its node never signed would make one up.
WITH entries AS (SELECT DISTINCT node, seq FROM log),
steps AS (
    SELECT node, seq, lag(seq, 1, 0) OVER (PARTITION BY node ORDER BY seq) AS before FROM entries
),
told AS (
    SELECT s.before, l.* FROM steps s JOIN told_log l ON l.node = s.node AND l.seq = s.seq WHERE s.seq > s.before + 1
),
proven AS (
    SELECT /*+ BROADCAST(t) */ t.node, t.before, t.seq, min(t.hash) AS hash
    FROM told t
    JOIN records r ON r.exporter = t.exporter AND r.hash = t.hash AND r.app = 'lace/log'
    WHERE proves(r.bytes, t.claim)
    GROUP BY t.node, t.before, t.seq
)
SELECT
    coalesce(n.name, s.node) AS member,
    s.node,
    s.before + 1 AS first_missing,
    s.seq - 1 AS last_missing,
    s.hash AS proof
FROM proven s
LEFT JOIN names n ON n.node = s.node
ORDER BY s.node, s.seq
