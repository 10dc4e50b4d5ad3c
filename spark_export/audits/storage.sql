-- Bytes of content by who first released them, and where. Content counts once, for its earliest release.
WITH firsts AS (
    SELECT p.target, min(struct(r.lamport IS NULL AS unknown, r.lamport, r.node, p.desk, p.size)) AS first
    FROM paths p JOIN releases r ON r.`commit` = p.`commit` AND r.exporter = p.exporter
    WHERE p.target IS NOT NULL AND p.kind = 'file'
    GROUP BY p.target
)
SELECT
    coalesce(n.name, f.first.node) AS member,
    f.first.desk AS desk,
    count(*) AS contents,
    sum(f.first.size) AS bytes
FROM firsts f
LEFT JOIN names n ON n.node = f.first.node
GROUP BY n.name, f.first.node, f.first.desk
ORDER BY bytes DESC, member, desk
