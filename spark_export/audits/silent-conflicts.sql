-- An exporter holds two visible contents of one version, yet its own list of conflicts does not say so.
WITH held AS (
    SELECT exporter, desk, version, count(DISTINCT content_sha512) AS contents,
        array_join(sort_array(collect_set(hash)), ' ') AS proof
    FROM releases WHERE state = 'visible' GROUP BY exporter, desk, version
)
SELECT
    coalesce(n.name, h.exporter) AS member,
    h.desk,
    h.version,
    h.contents,
    h.proof
FROM held h
LEFT JOIN names n ON n.node = h.exporter
LEFT ANTI JOIN conflicts c ON c.exporter = h.exporter AND c.desk = h.desk AND c.version = h.version
WHERE h.contents > 1
ORDER BY member, h.desk, h.version
