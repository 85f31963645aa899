-- What must hold whatever was called, ended or killed before: each row that this gives is a defect.  Run by a
-- superuser whose search_path has the extension's schema.
SELECT 'blocks of no model: ' || count(*) FROM gp_block b
WHERE NOT EXISTS (SELECT FROM gp_model_catalog m WHERE m.id = b.model) HAVING count(*) > 0
UNION ALL
SELECT 'grants on no model: ' || count(*) FROM gp_grant_catalog g
WHERE NOT EXISTS (SELECT FROM gp_model_catalog m WHERE m.id = g.model) HAVING count(*) > 0
UNION ALL
SELECT 'log rows of no model: ' || count(*) FROM gp_refresh_log l
WHERE NOT EXISTS (SELECT FROM gp_model_catalog m WHERE m.id = l.model) HAVING count(*) > 0
UNION ALL
SELECT 'models of no graph: ' || count(*) FROM gp_model_catalog m
WHERE NOT EXISTS (SELECT FROM gp_graph_catalog g WHERE g.id = m.graph) HAVING count(*) > 0
UNION ALL
SELECT format('model %s: %s blocks of part %s are of another version', m.id, count(*), b.part)
FROM gp_model_catalog m JOIN gp_block b ON b.model = m.id
WHERE b.version <> CASE b.part WHEN 'node' THEN m.version ELSE m.link_version END GROUP BY m.id, b.part
UNION ALL
SELECT format('model %s: %s nodes, %s rows stored', m.id, m.nodes, coalesce(sum(b.nrows), 0))
FROM gp_model_catalog m LEFT JOIN gp_block b ON b.model = m.id AND b.part = 'node' AND b.version = m.version
WHERE m.task IS NOT NULL GROUP BY m.id, m.nodes HAVING m.nodes <> coalesce(sum(b.nrows), 0)
UNION ALL
SELECT format('a lock of gnngp is held by process %s', pid) FROM pg_locks
WHERE classid = 'pg_extension'::regclass AND objsubid <> 0 AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = pg_locks.pid AND a.state <> 'idle')
