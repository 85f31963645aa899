-- What must hold whatever was called, ended or killed before: each row that this gives is a defect.  Run by a
-- superuser whose search_path has the extension's schema.
SELECT 'blocks of no model: ' || count(*) FROM gnngp_internal.gp_block b
WHERE NOT EXISTS (SELECT FROM gnngp_internal.gp_model_catalog m WHERE m.id = b.model) HAVING count(*) > 0
UNION ALL
SELECT 'grants on no model: ' || count(*) FROM gnngp_internal.gp_grant_catalog g
WHERE NOT EXISTS (SELECT FROM gnngp_internal.gp_model_catalog m WHERE m.id = g.model) HAVING count(*) > 0
UNION ALL
SELECT 'log rows of no model: ' || count(*) FROM gnngp_internal.gp_refresh_log l
WHERE NOT EXISTS (SELECT FROM gnngp_internal.gp_model_catalog m WHERE m.id = l.model) HAVING count(*) > 0
UNION ALL
SELECT 'models of no graph: ' || count(*) FROM gnngp_internal.gp_model_catalog m
WHERE NOT EXISTS (SELECT FROM gnngp_internal.gp_graph_catalog g WHERE g.id = m.graph) HAVING count(*) > 0
UNION ALL
SELECT format('model %s: %s blocks of part %s are of another version', m.id, count(*), b.part)
FROM gnngp_internal.gp_model_catalog m JOIN gnngp_internal.gp_block b ON b.model = m.id
WHERE b.version <> CASE WHEN b.part LIKE 'link%' THEN m.link_version ELSE m.version END GROUP BY m.id, b.part
UNION ALL
SELECT format('model %s: %s nodes, %s rows stored', m.id, m.nodes, coalesce(sum(b.nrows), 0))
FROM gnngp_internal.gp_model_catalog m LEFT JOIN gnngp_internal.gp_block b ON b.model = m.id AND b.part = 'node' AND b.version = m.version
WHERE m.task IS NOT NULL GROUP BY m.id, m.nodes HAVING m.nodes <> coalesce(sum(b.nrows), 0)
UNION ALL
SELECT format('model %s: %s labels, %s rows stored', m.id, m.labelled, coalesce(sum(b.nrows), 0))
FROM gnngp_internal.gp_model_catalog m LEFT JOIN gnngp_internal.gp_block b ON b.model = m.id AND b.part = 'loo' AND b.version = m.version
WHERE m.task IS NOT NULL GROUP BY m.id, m.labelled HAVING m.labelled <> coalesce(sum(b.nrows), 0)
UNION ALL
SELECT format('a lock of gnngp is held by process %s', pid) FROM pg_locks
WHERE classid = 'pg_extension'::regclass AND objsubid <> 0 AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = pg_locks.pid AND a.state <> 'idle')
;
-- Every model can be read by its owner, its figures are in range, and its probabilities add up to one
DO $$
DECLARE
	m record; n bigint; bad bigint; part text; state text; said text;
BEGIN
	FOR m IN
		SELECT v.owner AS role, quote_literal(v.model) AS quoted, c.*
		FROM gp_models v JOIN gnngp_internal.gp_model_catalog c ON c.name = v.model
			AND c.fitted IS NOT DISTINCT FROM v.fitted AND c.link_fitted IS NOT DISTINCT FROM v.link_fitted
		WHERE v.owner::text IN (SELECT rolname FROM pg_roles)
	LOOP
	BEGIN
		EXECUTE format('SET LOCAL ROLE %I', m.role);
		IF m.task IS NOT NULL THEN
			part := 'nodes';
			EXECUTE format('SELECT count(*), count(*) FILTER (WHERE NOT (sum BETWEEN 0.9999 AND 1.0001 AND variance BETWEEN 0 AND 1e300))
				FROM (SELECT node, coalesce(sum(probability), 1) AS sum, min(variance) AS variance FROM gp_predict(%s, NULL::%s, top => NULL) GROUP BY 1) p',
				m.quoted, CASE WHEN m.integer_ids THEN 'bigint' ELSE m.id_type END) INTO n, bad;
			IF n <> m.nodes OR bad > 0 THEN
				RAISE WARNING 'broken: model % of % has % nodes, predicts %, of which % are out of range', m.quoted, m.role, m.nodes, n, bad;
			END IF;
			EXECUTE format('SELECT count(*) FROM gp_evaluate(%s)', m.quoted) INTO n;
		END IF;
		IF m.link_method IS NOT NULL THEN
			part := 'links';
			EXECUTE format('SELECT count(*) FILTER (WHERE NOT (probability BETWEEN 0 AND 1 AND variance BETWEEN 0 AND 1e300)) FROM gp_predict_links(%s, NULL::%s[], 3)',
				m.quoted, CASE WHEN m.link_integer_ids THEN 'bigint' ELSE m.link_id_type END) INTO bad;
			IF bad > 0 THEN
				RAISE WARNING 'broken: model % of % has % pairs out of range', m.quoted, m.role, bad;
			END IF;
		END IF;
		RESET ROLE;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, said = MESSAGE_TEXT;
		-- A type may be gone, and a right to the schema of a type.
		IF state NOT IN ('42704', '42501') THEN
			RAISE WARNING 'broken: the % of model % of % cannot be read: % %', part, m.quoted, m.role, state, said;
		END IF;
	END;
	END LOOP;
END $$
;
SELECT 'the view gp_graphs lacks rows' WHERE (SELECT count(*) FROM gp_graphs) <> (SELECT count(*) FROM gnngp_internal.gp_graph_catalog)
UNION ALL SELECT 'the view gp_models lacks rows' WHERE (SELECT count(*) FROM gp_models) <> (SELECT count(*) FROM gnngp_internal.gp_model_catalog)
UNION ALL SELECT 'the view gp_refreshes lacks rows' WHERE (SELECT count(*) FROM gp_refreshes) <> (SELECT count(*) FROM gnngp_internal.gp_refresh_log)
UNION ALL SELECT 'somebody still computes: ' || model FROM gp_progress
