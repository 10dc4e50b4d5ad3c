-- Records that only one export holds.
WITH held AS (
    SELECT hash, min(app) AS app, min(size) AS size, min(exporter) AS exporter
    FROM records GROUP BY hash HAVING count(DISTINCT exporter) = 1
)
SELECT
    coalesce(n.name, h.exporter) AS member,
    h.app,
    count(*) AS records,
    sum(h.size) AS bytes,
    min(h.hash) AS proof
FROM held h
LEFT JOIN names n ON n.node = h.exporter
GROUP BY h.exporter, n.name, h.app
ORDER BY member, h.app
