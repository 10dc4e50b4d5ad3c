-- Everybody who belongs or belonged, in the order of admission; `known_by` counts the exports that agree.
SELECT
    min(m.name) AS member,
    m.node,
    min(m.depth) AS depth,
    coalesce(min(b.name), min(m.admitted_by)) AS admitted_by,
    min(m.time) AS since,
    count(DISTINCT m.exporter) AS known_by,
    min(m.hash) AS proof
FROM members m
LEFT JOIN names b ON b.node = m.admitted_by
GROUP BY m.node
ORDER BY depth, since, m.node
