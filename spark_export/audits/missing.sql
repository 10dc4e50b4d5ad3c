-- Holes that no export fills. A record that one member lacks and another has is listed under `lacking`.
SELECT
    h.hash AS missing,
    array_join(sort_array(collect_set(l.hash)), ' ') AS proof,
    max(coalesce(l.data, 'content')) AS named_as,
    count(DISTINCT h.exporter) AS members
FROM holes h
LEFT ANTI JOIN records r ON r.hash = h.hash
LEFT JOIN links l ON l.target = h.hash
GROUP BY h.hash
ORDER BY h.hash
