-- When a release arrived: the first sync in the receiver's own trail that was noted after the record.
WITH arrivals AS (
    SELECT r.exporter, r.hash, r.desk, r.version, r.node, r.time AS released,
        min(s.number) AS number
    FROM releases r
    JOIN syncs s ON s.exporter = r.exporter AND s.position > r.position
    WHERE r.node <> r.exporter
    GROUP BY r.exporter, r.hash, r.desk, r.version, r.node, r.time
)
SELECT
    a.desk,
    a.version,
    coalesce(f.name, a.node) AS released_by,
    coalesce(t.name, a.exporter) AS arrived_at,
    coalesce(s.road, 'unknown') AS road,
    a.released,
    s.time AS arrived,
    round(unix_micros(s.time) / 1e6 - unix_micros(a.released) / 1e6, 1) AS seconds,
    a.hash AS proof
FROM arrivals a
JOIN syncs s ON s.exporter = a.exporter AND s.number = a.number
LEFT JOIN names f ON f.node = a.node
LEFT JOIN names t ON t.node = a.exporter
ORDER BY a.desk, a.version, arrived, arrived_at, a.hash
