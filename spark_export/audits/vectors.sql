-- Each member's own version vector: how far it has every log.
SELECT
    coalesce(me.name, v.exporter) AS member,
    coalesce(of.name, v.node) AS about,
    v.seq,
    v.forked,
    v.plex AS proof
FROM vectors v
LEFT JOIN names me ON me.node = v.exporter
LEFT JOIN names of ON of.node = v.node
WHERE v.holder = v.exporter
ORDER BY member, about
