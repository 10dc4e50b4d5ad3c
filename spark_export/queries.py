"""How each table is read from a store: one query, and how its raw columns become the table's columns.

A raw column is named like the table's column it becomes. Three suffixes tell the few that need work: `hash:kind` and
`hash:digest` together become the hash text `hash`; `tai` also becomes `time`. A log table's query has the two bounds
of positions as its parameters and is ordered, so that the same records always give the same rows.
"""

from __future__ import annotations

from typing import Final

from vault.notes.own import NODE

__all__ = ["LOG_QUERIES", "STATE_QUERIES", "filled"]

# Written out by `filled`: the two columns of a record's hash, and the text a person wrote.
_HASH: Final = 'b.kind AS "hash:kind", b.digest AS "hash:digest"'
_MESSAGE: Final = "CASE WHEN r.size = 0 THEN '' ELSE CAST(substr(b.bytes, -r.size) AS TEXT) END AS message"

LOG_QUERIES: Final = {
    "records": """
        SELECT b.p AS position, {hash}, 'P' AS "plex:kind", r.plex AS "plex:digest", g.s AS record_group,
            a.s AS app, r.name AS name, v.s AS signer, r.tai AS tai, r.size AS size,
            CASE WHEN r.plex IS NULL THEN NULL ELSE b.bytes END AS bytes
        FROM body b JOIN rec r USING (p) JOIN {scope} USING (p) JOIN sym g ON g.id = r.grp
            JOIN sym a ON a.id = r.app LEFT JOIN sym v ON v.id = r.signer
        WHERE b.p BETWEEN ? AND ? ORDER BY b.p""",
    "fields": """
        SELECT f.p AS position, {hash}, n.s AS name, f.idx AS idx, x.s AS value
        FROM field f JOIN body b USING (p) JOIN {scope} USING (p) JOIN sym n ON n.id = f.name
            JOIN sym x ON x.id = f.val
        WHERE f.p BETWEEN ? AND ? ORDER BY f.p, n.s, f.idx""",
    "links": """
        SELECT l.p AS position, {hash}, n.s AS name, l.idx AS idx, d.s AS data, l.t AS target
        FROM link l JOIN body b USING (p) JOIN {scope} USING (p) JOIN sym n ON n.id = l.name
            JOIN sym d ON d.id = l.data
        WHERE l.p BETWEEN ? AND ? ORDER BY l.p, l.idx""",
    "log": """
        SELECT g.p AS position, g.hash AS hash, 'P' AS "plex:kind", g.plex AS "plex:digest", g.node AS node,
            g.seq AS seq, g.lamport AS lamport, g.prev AS prev, r.tai AS tai
        FROM log g JOIN rec r USING (p) JOIN {scope} USING (p) WHERE g.p BETWEEN ? AND ? ORDER BY g.p""",
    "commits": """
        SELECT c.p AS position, c.hash AS hash, c.desk AS desk, c.tree AS tree, c.signer AS node, c.tai AS tai,
            {message}
        FROM commits c JOIN body b USING (p) JOIN rec r USING (p) JOIN {scope} USING (p)
        WHERE c.p BETWEEN ? AND ? ORDER BY c.p""",
    "parents": """
        SELECT c.p AS position, c.hash AS hash, e.parent AS parent
        FROM commits c JOIN parent e ON e.child = c.hash JOIN {scope} USING (p)
        WHERE c.p BETWEEN ? AND ? ORDER BY c.p, e.parent""",
    "revisions": """
        SELECT v.p AS position, v.hash AS hash, v.node AS node, v.desk AS desk, v.number AS number,
            v.commit_hash AS "commit"
        FROM rev v JOIN {scope} USING (p) WHERE v.p BETWEEN ? AND ? ORDER BY v.p""",
}

# A friend's decision is only proposed until it is taken in (docs/decisions.md section 5): here counts what the exporter
# decided or accepted, and what is in their line or in what their next commit names beside it.
_CONTESTED: Final = """
    WITH RECURSIVE contested AS (
        SELECT desk, version, count(*) AS releases, count(DISTINCT sha512) AS contents
        FROM release WHERE visible = 1 GROUP BY desk, version HAVING count(DISTINCT sha512) > 1),
    line(desk, hash) AS (
        SELECT desk, commit_hash FROM checkout WHERE desk IN (SELECT desk FROM contested)
        UNION SELECT k.desk, c.hash FROM checkout k JOIN commits c ON c.desk = k.desk AND instr(k.also, c.hash) > 0
            WHERE k.also <> '' AND k.desk IN (SELECT desk FROM contested)
        UNION SELECT line.desk, e.parent FROM line JOIN parent e ON e.child = line.hash),
    decided AS (
        SELECT z.desk, z.version, z.node = (SELECT value FROM meta WHERE key = '{node}')
            OR EXISTS (SELECT 1 FROM line l WHERE l.desk = z.desk AND l.hash = z.result)
            OR EXISTS (SELECT 1 FROM conflict f WHERE f.desk = z.desk AND f.version = z.version
                AND instr(f.accepted, z.hash) > 0) AS counts
        FROM contested c JOIN resolution z ON z.desk = c.desk AND z.version = c.version AND z.visible = 1
        WHERE NOT EXISTS (SELECT 1 FROM release o WHERE o.desk = z.desk AND o.version = z.version AND o.visible = 1
            AND o.hash <> coalesce(z.release, '') AND NOT EXISTS (
                SELECT 1 FROM side s WHERE s.p = z.p AND s.release = o.hash)))
    SELECT c.desk, c.version, c.releases, c.contents,
        CASE max(d.counts) WHEN 1 THEN 'resolved' WHEN 0 THEN 'proposed' ELSE 'open' END AS state
    FROM contested c LEFT JOIN decided d ON d.desk = c.desk AND d.version = c.version
    GROUP BY c.desk, c.version, c.releases, c.contents ORDER BY c.desk, c.version"""

STATE_QUERIES: Final = {
    "releases": """
        SELECT e.p AS position, e.hash AS hash, e.node AS node, e.desk AS desk, e.version AS version,
            e.commit_hash AS "commit", e.sha512 AS content_sha512, e.tai AS tai, n.seq AS seq, n.lamport AS lamport,
            CASE e.visible WHEN 1 THEN 'visible' WHEN 0 THEN 'waiting' WHEN 2 THEN 'after-cut' ELSE 'mismatch' END
                AS state, {message}
        FROM release e JOIN body b USING (p) JOIN rec r USING (p) JOIN {scope} USING (p)
            LEFT JOIN log n ON n.p = (SELECT g.p FROM log g JOIN link k ON k.p = g.p JOIN {scope} s ON s.p = g.p
                WHERE g.node = e.node AND g.seq = e.seq AND k.t = e.hash) ORDER BY e.p""",
    "vectors": """
        SELECT m.value AS holder, v.node AS node, v.seq AS seq, 'P' AS "plex:kind",
            CASE WHEN v.seq = 0 THEN NULL ELSE v.plex END AS "plex:digest", v.forked AS forked
        FROM vector v, meta m WHERE m.key = '{node}'
        UNION ALL SELECT node, of_node, seq, 'P', CASE WHEN seq = 0 THEN NULL ELSE plex END, forked FROM peer_vector
        ORDER BY 1, 2""",
    "holes": "SELECT want AS hash, content AS content FROM hole ORDER BY want, content",
    "conflicts": _CONTESTED,
    "resolutions": """
        SELECT z.p AS position, z.hash AS hash, z.node AS node, z.desk AS desk, z.version AS version,
            z.chosen AS chosen, z.release AS release, z.result AS result, z.tai AS tai,
            CASE z.visible WHEN 1 THEN 'visible' WHEN 2 THEN 'after-cut' ELSE 'waiting' END AS state
        FROM resolution z JOIN {scope} USING (p) ORDER BY z.p""",
    "sides": """
        SELECT z.hash AS hash, s.release AS release
        FROM side s JOIN resolution z USING (p) JOIN {scope} USING (p) ORDER BY z.p, s.release""",
    "members": """
        SELECT m.node AS node, m.label AS name, m.depth AS depth, m.admitted_by AS admitted_by,
            b.kind AS "hash:kind", b.digest AS "hash:digest", r.tai AS tai, m.seq AS last_seq, v.signer AS revoked_by
        FROM (SELECT node, label, depth, admitted_by, NULL AS seq, NULL AS revocation FROM member
                UNION ALL SELECT node, label, depth, admitted_by, seq, revocation FROM former) m
            LEFT JOIN admission a ON a.p = (SELECT min(p) FROM admission x JOIN {scope} USING (p)
                WHERE x.node = m.node AND x.signer = m.admitted_by)
            LEFT JOIN body b ON b.p = a.p LEFT JOIN rec r ON r.p = a.p
            LEFT JOIN revocation v ON v.hash = m.revocation ORDER BY m.node""",
}


def filled(query: str, scope: str) -> str:
    """Return a query of this module with its parts written out.

    Args:
        query: one of `LOG_QUERIES` or `STATE_QUERIES`.
        scope: what is read: the table of shared positions, or a constant sub-query that gives `p`.
    """
    return query.format(scope=scope, hash=_HASH, message=_MESSAGE, node=NODE.name)
