-- Per member and kind of record: what the others have and it has not.
WITH held AS (SELECT DISTINCT hash, exporter FROM records),
known AS (SELECT hash, min(app) AS app, min(size) AS size, count(DISTINCT exporter) AS holders FROM records GROUP BY hash),
exporters AS (SELECT DISTINCT exporter FROM records),
-- Only what somebody lacks is paired with the members: the rest would be every record times every member.
partial AS (SELECT k.* FROM known k WHERE k.holders < (SELECT count(*) FROM exporters))
SELECT
    coalesce(n.name, e.exporter) AS member,
    p.app,
    count(*) AS records,
    sum(p.size) AS bytes,
    min(p.hash) AS proof
FROM partial p
CROSS JOIN exporters e
LEFT JOIN names n ON n.node = e.exporter
LEFT ANTI JOIN held h ON h.hash = p.hash AND h.exporter = e.exporter
GROUP BY e.exporter, n.name, p.app
ORDER BY member, p.app
