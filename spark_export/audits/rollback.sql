-- A vault that has less of its own log than its friends have was restored from an old copy (or exported earlier than
-- theirs: export after the last sync).
WITH held AS (SELECT exporter, node, max(seq) AS seq FROM log GROUP BY exporter, node),
exporters AS (SELECT DISTINCT exporter FROM records),
others AS (
    SELECT node, max(seq) AS seq FROM (
        SELECT h.node, h.seq FROM held h JOIN exporters e ON e.exporter = h.node WHERE h.exporter <> h.node
        UNION ALL
        -- What a peer once said of itself counts too.
        SELECT v.node, v.seq FROM vectors v WHERE v.holder = v.node AND v.exporter <> v.holder
    ) GROUP BY node
)
SELECT
    coalesce(n.name, o.node) AS member,
    o.node,
    coalesce(h.seq, 0) AS has,
    o.seq AS others_have,
    (SELECT min(hash) FROM log l WHERE l.node = o.node AND l.seq = o.seq) AS proof
FROM others o
LEFT JOIN names n ON n.node = o.node
JOIN exporters e ON e.exporter = o.node
LEFT JOIN held h ON h.exporter = o.node AND h.node = o.node
WHERE coalesce(h.seq, 0) < o.seq
ORDER BY member
