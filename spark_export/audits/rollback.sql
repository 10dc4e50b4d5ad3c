-- A vault that has less of its own log than its friends have was restored from an old copy (or exported earlier than
-- theirs: export after the last sync). The entries it lacks are checked with their signatures: what a friend noted that
-- this vault once said of itself proves nothing.
WITH own AS (
    SELECT e.exporter, coalesce(max(l.seq), 0) AS seq
    FROM (SELECT DISTINCT exporter FROM records) e
    LEFT JOIN told_log l ON l.exporter = e.exporter AND l.node = e.exporter
    GROUP BY e.exporter
),
told AS (
    SELECT l.* FROM told_log l JOIN own o ON l.node = o.exporter AND l.exporter <> l.node WHERE l.seq > o.seq
),
proven AS (
    SELECT /*+ BROADCAST(t) */ t.node, t.seq, t.hash
    FROM told t
    JOIN records r ON r.exporter = t.exporter AND r.hash = t.hash AND r.app = 'lace/log'
    WHERE proves(r.bytes, t.claim)
),
others AS (SELECT node, max(seq) AS seq FROM proven GROUP BY node)
SELECT
    coalesce(n.name, o.node) AS member,
    o.node,
    h.seq AS has,
    o.seq AS others_have,
    (SELECT min(hash) FROM proven p WHERE p.node = o.node AND p.seq = o.seq) AS proof
FROM others o
JOIN own h ON h.exporter = o.node
LEFT JOIN names n ON n.node = o.node
WHERE h.seq < o.seq
ORDER BY member
