-- What the check of every exported copy found; empty when all is well.
SELECT
    coalesce(n.name, f.signer, '') AS signed_as,
    f.app,
    f.problem,
    sort_array(collect_set(f.exporter)) AS found_in,
    f.hash AS proof
FROM signature_faults f
LEFT JOIN names n ON n.node = f.signer
GROUP BY n.name, f.signer, f.app, f.problem, f.hash
ORDER BY f.problem, f.hash
