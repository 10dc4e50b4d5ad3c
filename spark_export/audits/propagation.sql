-- When a release arrived: the first sync in the receiver's own trail that was noted after the record.
-- Both stand in one order of positions per vault, newest first; so the lowest number so far is the first sync after.
WITH noted AS (
    SELECT exporter, position, NULL AS number, hash, desk, version, node, time
    FROM releases
    WHERE node <> exporter
    UNION ALL
    SELECT exporter, position, number, NULL, NULL, NULL, NULL, NULL FROM syncs
),
ranked AS (
    SELECT *, min(number) OVER (
        PARTITION BY exporter ORDER BY position DESC, number NULLS FIRST
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS first_sync
    FROM noted
)
SELECT
    a.desk,
    a.version,
    coalesce(f.name, a.node) AS released_by,
    coalesce(t.name, a.exporter) AS arrived_at,
    coalesce(s.road, 'unknown') AS road,
    a.time AS released,
    s.time AS arrived,
    round(unix_micros(s.time) / 1e6 - unix_micros(a.time) / 1e6, 1) AS seconds,
    a.hash AS proof
FROM ranked a
JOIN syncs s ON s.exporter = a.exporter AND s.number = a.first_sync
LEFT JOIN names f ON f.node = a.node
LEFT JOIN names t ON t.node = a.exporter
WHERE a.hash IS NOT NULL
ORDER BY a.desk, a.version, arrived, arrived_at, a.hash
