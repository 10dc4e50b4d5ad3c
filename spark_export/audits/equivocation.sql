-- Two log entries of one node under one number: both are signed, so together they prove it.
WITH entries AS (SELECT DISTINCT node, seq, plex, hash FROM log)
SELECT
    coalesce(n.name, e.node) AS member,
    e.node,
    e.seq,
    count(DISTINCT e.plex) AS versions,
    array_join(sort_array(collect_set(e.hash)), ' ') AS proof
FROM entries e
LEFT JOIN names n ON n.node = e.node
GROUP BY e.node, n.name, e.seq
HAVING count(DISTINCT e.plex) > 1
ORDER BY e.node, e.seq
