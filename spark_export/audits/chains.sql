-- Audit trails: numbers without gaps, each entry chained to the one before, each sealed by the vault's node, or before
-- an adoption by the one that it had then. That a key sealed an entry is checked; what the entry says is not in an
-- export, so its number and what it names as the one before are its exporter's word.
WITH steps AS (
    SELECT exporter, number, hash, parent, signer, verb,
        lag(number, 1, 0) OVER (PARTITION BY exporter ORDER BY number, hash) AS number_before,
        lag(hash) OVER (PARTITION BY exporter ORDER BY number, hash) AS hash_before,
        lag(signer) OVER (PARTITION BY exporter ORDER BY number, hash) AS signer_before,
        max(CASE WHEN verb = 'lace-adopt' THEN number END) OVER (PARTITION BY exporter) AS adopted
    FROM audit
),
faults AS (
    SELECT exporter, number, hash,
        CASE
            WHEN number = number_before THEN 'two entries have this number'
            WHEN number <> number_before + 1 THEN 'entries before it are missing'
            ELSE 'it does not name the entry before it'
        END AS problem
    FROM steps
    WHERE number <> number_before + 1 OR NOT (parent <=> hash_before)
    UNION ALL
    SELECT exporter, number, hash, 'another node sealed it' AS problem
    FROM steps
    WHERE signer <> exporter AND number >= coalesce(adopted, 0) OR signer <> signer_before AND verb <> 'lace-adopt'
    UNION ALL
    SELECT exporter, number, hash, problem FROM chain_faults
),
first AS (SELECT *, row_number() OVER (PARTITION BY exporter ORDER BY number, problem) AS nth FROM faults)
SELECT
    coalesce(n.name, f.exporter) AS member,
    f.exporter AS node,
    f.number,
    f.problem,
    f.hash AS proof
FROM first f
LEFT JOIN names n ON n.node = f.exporter
WHERE f.nth = 1
ORDER BY member
