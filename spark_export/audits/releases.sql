-- Each release once, whoever exported it; `holders` counts the vaults in which it is visible.
SELECT
    r.desk,
    r.version,
    coalesce(n.name, r.node) AS released_by,
    min(r.time) AS released,
    min(r.message) AS message,
    count(DISTINCT CASE WHEN r.state = 'visible' THEN r.exporter END) AS holders,
    min(r.seq) AS seq,
    r.hash AS proof
FROM releases r
LEFT JOIN names n ON n.node = r.node
GROUP BY r.desk, r.version, r.node, n.name, r.hash
ORDER BY r.desk, min(r.lamport), r.hash
