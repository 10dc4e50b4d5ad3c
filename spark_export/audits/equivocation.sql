-- Two log entries of one node under one number: both are signed, so together they prove it.
WITH forked AS (SELECT node, seq FROM log GROUP BY node, seq HAVING min(plex) <> max(plex))
SELECT
    coalesce(n.name, f.node) AS member,
    f.node,
    f.seq,
    count(DISTINCT e.plex) AS versions,
    array_join(sort_array(collect_set(e.hash)), ' ') AS proof
FROM forked f
JOIN log e ON e.node = f.node AND e.seq = f.seq
LEFT JOIN names n ON n.node = f.node
GROUP BY f.node, n.name, f.seq
ORDER BY f.node, f.seq
