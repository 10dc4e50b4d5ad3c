-- Two log entries of one node under one number: both are signed, so together they prove it.
-- It accuses somebody, so each entry is checked with its signature: a row is what its exporter wrote.
WITH forked AS (SELECT node, seq FROM told_log GROUP BY node, seq HAVING min(plex) <> max(plex)),
told AS (SELECT /*+ BROADCAST(f) */ e.* FROM told_log e JOIN forked f ON f.node = e.node AND f.seq = e.seq),
proven AS (
    SELECT /*+ BROADCAST(t) */ t.node, t.seq, t.plex, t.hash
    FROM told t
    JOIN records r ON r.exporter = t.exporter AND r.hash = t.hash AND r.app = 'lace/log'
    WHERE proves(r.bytes, t.claim)
)
SELECT
    coalesce(n.name, e.node) AS member,
    e.node,
    e.seq,
    count(DISTINCT e.plex) AS versions,
    array_join(sort_array(collect_set(e.hash)), ' ') AS proof
FROM proven e
LEFT JOIN names n ON n.node = e.node
GROUP BY e.node, n.name, e.seq
HAVING count(DISTINCT e.plex) > 1
ORDER BY e.node, e.seq
