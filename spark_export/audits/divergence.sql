-- Where two members' own vectors disagree about a node: one is behind, or they have different entries.
WITH own AS (SELECT exporter, node, seq, plex, forked FROM vectors WHERE holder = exporter),
tops AS (SELECT node, max(seq) AS top, count(DISTINCT exporter) AS tellers FROM own GROUP BY node),
exporters AS (SELECT DISTINCT exporter FROM records),
at_top AS (SELECT node, seq, count(DISTINCT plex) AS kinds FROM own GROUP BY node, seq)
SELECT
    coalesce(me.name, e.exporter) AS member,
    coalesce(of.name, t.node) AS about,
    coalesce(o.seq, 0) AS has,
    t.top AS newest,
    CASE
        WHEN o.forked THEN 'forked'
        WHEN a.kinds > 1 THEN 'different'
        ELSE 'behind'
    END AS relation,
    (SELECT min(l.hash) FROM log l WHERE l.node = t.node AND l.seq = t.top) AS proof
FROM tops t
CROSS JOIN exporters e
LEFT JOIN own o ON o.exporter = e.exporter AND o.node = t.node
LEFT JOIN at_top a ON a.node = t.node AND a.seq = o.seq
LEFT JOIN names me ON me.node = e.exporter
LEFT JOIN names of ON of.node = t.node
WHERE coalesce(o.seq, 0) < t.top OR o.forked OR a.kinds > 1
ORDER BY member, about
