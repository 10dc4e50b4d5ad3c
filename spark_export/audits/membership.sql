-- Everybody who belongs or belonged, in the order of admission; `known_by` counts the exports that know them.
-- Who was revoked has the last entry of their log that counts, and by whom, where a revocation says so.
SELECT
    coalesce(min(n.name), m.node) AS member,
    m.node,
    min(m.depth) AS depth,
    coalesce(min(b.name), min(m.admitted_by)) AS admitted_by,
    min(m.time) AS since,
    min(r.last_seq) AS last_seq,
    coalesce(min(c.name), min(r.revoked_by)) AS revoked_by,
    count(DISTINCT m.exporter) AS known_by,
    min(m.hash) AS proof
FROM members m
LEFT JOIN names n ON n.node = m.node
LEFT JOIN names b ON b.node = m.admitted_by
LEFT JOIN cuts r ON r.exporter = m.exporter AND r.node = m.node
LEFT JOIN names c ON c.node = r.revoked_by
GROUP BY m.node
ORDER BY depth, since, m.node
