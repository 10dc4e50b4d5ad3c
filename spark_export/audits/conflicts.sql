-- Contested versions over all exports together, even where no single member holds both sides. What a revocation cut
-- off counts for nobody, and a decision only where it is seen. A version is resolved once everybody who has both sides
-- says of themselves that they took the decision in; until then it is proposed. One that was decided in several ways ends
-- with a version under which all of these were released, once that is decided in one way.
WITH hot AS (
    SELECT desk, version FROM told_releases WHERE state NOT IN ('mismatch', 'after-cut')
    GROUP BY desk, version HAVING min(content_sha512) <> max(content_sha512)
),
told AS (
    SELECT r.* FROM told_releases r JOIN hot h ON h.desk = r.desk AND h.version = r.version
    WHERE r.state NOT IN ('mismatch', 'after-cut')
),
-- What a row says of the content, and of a decision, counts as its record has it.
known AS (
    SELECT /*+ BROADCAST(t) */ DISTINCT t.desk, t.version, t.hash, t.node, t.content_sha512
    FROM told t
    JOIN records b ON b.exporter = t.exporter AND b.hash = t.hash AND b.app = 'lace/release'
    WHERE proves(b.bytes, t.claim)
),
contested AS (
    SELECT
        desk, version, count(DISTINCT content_sha512) AS contents,
        sort_array(collect_set(hash)) AS releases, sort_array(collect_set(node)) AS nodes
    FROM known GROUP BY desk, version HAVING count(DISTINCT content_sha512) > 1
),
visible AS (
    SELECT r.* FROM told_resolutions r JOIN hot h ON h.desk = r.desk AND h.version = r.version WHERE r.state = 'visible'
),
proven AS (
    SELECT /*+ BROADCAST(r) */ r.*
    FROM visible r
    JOIN records b ON b.exporter = r.exporter AND b.hash = r.hash AND b.app = 'lace/resolution'
    WHERE proves(b.bytes, r.claim)
),
decided AS (
    SELECT r.desk, r.version, r.hash, min(r.node) AS node, min(r.time) AS time,
        max(coalesce(r.chosen, r.release)) AS holds, sort_array(collect_set(s.release)) AS sides
    FROM proven r JOIN sides s ON s.hash = r.hash AND s.exporter = r.exporter
    GROUP BY r.desk, r.version, r.hash
),
settled AS (
    SELECT c.desk, c.version, count(DISTINCT d.holds) AS outcomes, min(d.time) AS time, collect_set(d.holds) AS held,
        sort_array(collect_set(d.node)) AS deciders, array_join(sort_array(collect_set(d.hash)), ' ') AS resolutions
    FROM contested c
    JOIN decided d ON d.desk = c.desk AND d.version = c.version
        AND size(array_except(c.releases, array_union(d.sides, array(d.holds)))) = 0
    GROUP BY c.desk, c.version
),
leads AS (
    SELECT DISTINCT s.desk, s.version, d.version AS above
    FROM settled s
    JOIN decided d ON d.desk = s.desk AND d.version <> s.version AND size(array_except(s.held, d.sides)) = 0
    WHERE s.outcomes > 1
),
-- Where that one was decided in several ways too, the one above it is looked at, and no further.
reached AS (
    SELECT desk, version, above FROM leads
    UNION
    SELECT a.desk, a.version, b.above FROM leads a JOIN leads b ON b.desk = a.desk AND b.version = a.above
),
taken AS (SELECT desk, version, min(state = 'resolved') AS by_all FROM conflicts GROUP BY desk, version),
ended AS (
    SELECT r.desk, r.version, min(r.above) AS ended_by, max(t.by_all) AS by_all
    FROM reached r
    JOIN settled o ON o.desk = r.desk AND o.version = r.above AND o.outcomes = 1
    LEFT JOIN taken t ON t.desk = r.desk AND t.version = r.above
    GROUP BY r.desk, r.version
)
SELECT
    c.desk,
    c.version,
    size(c.releases) AS releases,
    c.contents,
    transform(c.nodes, x -> coalesce(element_at(n.names, x), x)) AS released_by,
    CASE
        WHEN s.outcomes IS NULL THEN 'open'
        WHEN s.outcomes > 1 AND e.ended_by IS NULL THEN 'decided twice'
        WHEN s.outcomes > 1 AND e.by_all THEN 'ended'
        WHEN s.outcomes > 1 THEN 'proposed'
        WHEN t.by_all THEN 'resolved'
        ELSE 'proposed'
    END AS state,
    transform(s.deciders, x -> coalesce(element_at(n.names, x), x)) AS decided_by,
    s.time AS decided,
    e.ended_by,
    concat_ws(' ', array_join(c.releases, ' '), s.resolutions) AS proof
FROM contested c
CROSS JOIN (
    SELECT map_from_entries(collect_list(struct(node, name))) AS names
    FROM names
) n
LEFT JOIN settled s ON s.desk = c.desk AND s.version = c.version
LEFT JOIN taken t ON t.desk = c.desk AND t.version = c.version
LEFT JOIN ended e ON e.desk = c.desk AND e.version = c.version
ORDER BY c.desk, c.version
