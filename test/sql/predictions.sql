-- Predictions in a table of their own, which a fit with strategy sql makes
\pset format unaligned
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE nodes AS SELECT i * 3 + 7 AS id, ARRAY[sin(i * 1.7), cos(i * 0.9), sin(i * i), 1]::real[] AS x,
        CASE WHEN i % 3 = 0 THEN 'class ' || i * 3 / 601 END AS y, CASE WHEN i % 3 = 0 THEN sin(i / 40.0) END AS v
    FROM generate_series(1, 600) AS i;
CREATE TABLE edges AS SELECT a * 3 + 7 AS src, (1 + (a + (a * a * k) % (20 + a % 50)) % 600) * 3 + 7 AS dst
    FROM generate_series(1, 600) AS a, generate_series(1, 4) AS k;
CREATE TABLE divided (LIKE nodes) PARTITION BY RANGE (id);
CREATE TABLE divided_low PARTITION OF divided FOR VALUES FROM (MINVALUE) TO (900);
CREATE TABLE divided_high PARTITION OF divided FOR VALUES FROM (900) TO (MAXVALUE);
INSERT INTO divided TABLE nodes;
CREATE TABLE hashed (LIKE nodes) PARTITION BY HASH (id);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO hashed TABLE nodes;
CREATE TABLE by_class (LIKE nodes) PARTITION BY LIST (y);
CREATE TABLE by_class_all PARTITION OF by_class DEFAULT;
INSERT INTO by_class TABLE nodes;
SELECT gp_create_graph(g, g::regclass, 'edges', features => '{x}', target => 'y') FROM unnest('{nodes,divided,hashed,by_class}'::text[]) AS g;
SELECT gp_create_graph('values', 'nodes', 'edges', features => '{x}', target => 'v');
SELECT model, strategy FROM unnest('{nodes,divided,hashed,by_class,values}'::text[]) AS g, gp_fit(g, kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1);
SELECT model, predictions, pg_get_partkeydef(predictions) FROM gp_models ORDER BY model;
SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname ~ '^(divided|hashed)_predictions_\d$' ORDER BY 1;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'nodes_predictions'::regclass AND attnum > 0 ORDER BY attnum;

-- The table has what gp_predict says, and gp_predict says what the model in blocks did
CREATE FUNCTION differ(model text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    t regclass;
BEGIN
    SELECT predictions INTO t FROM gp_models WHERE gp_models.model = $1;
    EXECUTE format('SELECT count(*) FROM ((SELECT node, class, score, variance, probability FROM %s EXCEPT SELECT * FROM gp_predict(%L, NULL::int))'
                   ' UNION ALL (SELECT * FROM gp_predict(%2$L, NULL::int) EXCEPT SELECT node, class, score, variance, probability FROM %1$s)) AS d', t, model) INTO n;
    RETURN n;
END $$;
SELECT model, differ(model) FROM gp_models ORDER BY 1;
SELECT count(*), count(DISTINCT node), min(node), max(node) FROM gp_predict('divided', top => NULL);
SELECT node, class IS NOT NULL AS told FROM gp_predict('divided', ARRAY[10, 1807, 11, 13, 1804]);
SELECT count(*) FROM gp_predict('divided', (SELECT array_agg(id) FROM nodes));
SELECT count(*) FROM gp_predict('divided', ARRAY[]::int[]);
SELECT count(*) FROM gp_predict('divided', unlabelled_only => true);
SELECT node, classes IS NOT NULL, lower IS NULL FROM gp_predict_sets('divided', 10);
SELECT node, lower < upper AS interval FROM gp_predict_sets('values', ARRAY[10, 1807]);
SELECT count(*) FROM gp_loo('divided');
SELECT count(*) > 3 FROM gp_evaluate('divided');
SELECT length(gp_report('divided')) > 1000;
CREATE TEMP TABLE as_table AS SELECT * FROM gp_predict('nodes', top => NULL);

-- A join by partitions
SET enable_partitionwise_join = on;
ANALYZE divided, divided_predictions;
EXPLAIN (COSTS off) SELECT p.class, count(*) FROM divided JOIN divided_predictions AS p ON p.node = divided.id GROUP BY 1;
RESET enable_partitionwise_join;

-- Two versions: the one before is there until the next fit, and longer while something needs it
SELECT model FROM gp_fit('nodes', kernel => 'appnp', strategy => 'sql', landmarks => 50, nugget => 0.1);
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'nodes';
SELECT differ('nodes');
CREATE VIEW needs AS SELECT * FROM nodes_predictions;
CREATE TABLE points_at (node int REFERENCES nodes_predictions);
SELECT gp_drop_model('nodes');
DROP TABLE points_at;
CALL gp_refresh('nodes');
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'nodes';
SELECT gp_drop_model('nodes');
DROP VIEW needs;
-- What is the table's own goes with it
BEGIN;
SELECT predictions AS table FROM gp_models WHERE model = 'nodes' \gset
CREATE POLICY few ON :table USING (node > 3);
ALTER TABLE :table ADD CONSTRAINT positive CHECK (node > -100000);
SELECT gp_drop_model('nodes');
ROLLBACK;
CALL gp_refresh('nodes');
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'nodes';
-- Fits by other strategies have no table
SELECT model FROM gp_fit('nodes', kernel => 'appnp', strategy => 'nystrom', landmarks => 50, nugget => 0.1);
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'nodes';
SELECT count(*) FROM gp_predict('nodes');
SELECT model FROM gp_fit('nodes', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1);
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'nodes';
SELECT count(*) FROM (SELECT * FROM as_table EXCEPT SELECT * FROM gp_predict('nodes', top => NULL)) AS d;
-- A model that goes over to another graph
SELECT model FROM gp_fit('divided', 'nodes', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1, replace => true);
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'nodes';
SELECT differ('nodes');
SELECT gp_drop_model('nodes');
SELECT relname FROM pg_class WHERE relname LIKE 'nodes_predictions%';

-- Rights are those of the model
CREATE ROLE predictions_owner;
CREATE ROLE predictions_reader;
CREATE ROLE predictions_other;
CREATE SCHEMA theirs AUTHORIZATION predictions_owner;
GRANT USAGE ON SCHEMA theirs TO PUBLIC;
CREATE TABLE theirs.nodes AS TABLE nodes;
GRANT SELECT ON theirs.nodes, edges TO predictions_owner;
SET ROLE predictions_owner;
SELECT gp_create_graph('theirs', 'theirs.nodes', 'edges', features => '{x}', target => 'y');
SELECT model FROM gp_fit('theirs', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1);
SELECT gp_grant('theirs', 'predictions_reader');
RESET ROLE;
SELECT relowner::regrole, has_table_privilege('predictions_reader', oid, 'SELECT') AS reads, has_table_privilege('predictions_reader', oid, 'UPDATE') AS writes FROM pg_class WHERE relname = 'theirs_predictions';
-- A superuser's refresh makes a table of the owner's, too, with the grants of the model
CALL gp_refresh('predictions_owner.theirs');
SELECT relname, relowner::regrole, has_table_privilege('predictions_reader', oid, 'SELECT') AS reads, has_table_privilege('predictions_other', oid, 'SELECT') AS other FROM pg_class WHERE relname ~ '^theirs_predictions\d?$' ORDER BY 1;
SET ROLE predictions_reader;
SELECT count(*) FROM gp_predict('theirs', top => NULL);
SELECT count(*) FROM theirs.theirs_predictions1;
SET ROLE predictions_other;
SELECT count(*) FROM gp_predict('theirs', top => NULL);
SELECT count(*) FROM theirs.theirs_predictions1;
-- A grant that is taken back holds for both versions; one to everybody
SET ROLE predictions_owner;
SELECT gp_revoke('theirs', 'predictions_reader');
SELECT relname, has_table_privilege('predictions_reader', oid, 'SELECT') AS reads, has_table_privilege('predictions_other', oid, 'SELECT') AS other FROM pg_class WHERE relname ~ '^theirs_predictions\d?$' ORDER BY 1;
SELECT gp_grant('theirs', 'public');
SELECT relname, has_table_privilege('predictions_reader', oid, 'SELECT') AS reads, has_table_privilege('predictions_other', oid, 'SELECT') AS other FROM pg_class WHERE relname ~ '^theirs_predictions\d?$' ORDER BY 1;
SELECT gp_revoke('theirs', 'public');
-- Who may read the model needs no right to its table
SELECT gp_grant('theirs', 'predictions_reader');
REVOKE ALL ON theirs.theirs_predictions1 FROM predictions_reader;
SET ROLE predictions_reader;
SELECT count(*) FROM gp_predict('theirs');

-- What the owner does to the table does no harm to who reads the model
SET ROLE predictions_owner;
CREATE FUNCTION theirs.spy() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'run as %', current_user; RETURN 1; END $$;
GRANT EXECUTE ON FUNCTION theirs.spy TO PUBLIC;
ALTER TABLE theirs.theirs_predictions1 RENAME TO kept;
SELECT count(*) FROM gp_predict('theirs');
CREATE VIEW theirs.theirs_predictions1 AS SELECT k.* FROM theirs.kept AS k, theirs.spy();
RESET ROLE;
SELECT count(*) FROM gp_predict('predictions_owner.theirs');
SET ROLE predictions_owner;
DROP VIEW theirs.theirs_predictions1;
BEGIN;
UPDATE theirs.kept SET packed = NULL WHERE node = 10;
SELECT count(*) FROM gp_predict('theirs');
ROLLBACK;
BEGIN;
UPDATE theirs.kept SET packed = '\x00' WHERE node = 10;
SELECT count(*) FROM gp_predict('theirs', 10);
ROLLBACK;
BEGIN;
UPDATE theirs.kept SET packed = (SELECT packed FROM theirs.kept WHERE node = 13) WHERE node = 10;
SELECT count(*) FROM gp_predict('theirs', 10);
ROLLBACK;
BEGIN;
UPDATE theirs.kept SET packed = substr(packed, 1, 8) || decode(repeat('ff', length(packed) - 8), 'hex') WHERE node = 10;
SELECT count(*) FROM gp_predict('theirs', 10);
ROLLBACK;
BEGIN;
UPDATE theirs.kept SET packed = substr(packed, 1, 8) || decode(repeat('ff', length(packed) - 8), 'hex') WHERE node = 10;
SELECT count(*) FROM gp_predict_sets('theirs', 10, 0.999999);
ROLLBACK;
BEGIN;
DELETE FROM theirs.kept WHERE node = 10;
SELECT count(*) FROM gp_predict('theirs', 10);
SELECT count(*) FROM gp_predict('theirs');
ROLLBACK;
BEGIN;
ALTER TABLE theirs.kept ALTER packed TYPE text USING 'a';
SELECT count(*) FROM gp_predict('theirs');
ROLLBACK;
BEGIN;
ALTER TABLE theirs.kept ENABLE ROW LEVEL SECURITY;
ALTER TABLE theirs.kept FORCE ROW LEVEL SECURITY;
CREATE POLICY spying ON theirs.kept USING ((SELECT theirs.spy()) = 0);
RESET ROLE;
SELECT count(*) FROM gp_predict('predictions_owner.theirs');
ROLLBACK;
-- One that is gone, or another one's
SET ROLE predictions_owner;
BEGIN;
DROP TABLE theirs.kept;
SELECT count(*) FROM gp_predict('theirs');
ROLLBACK;
RESET ROLE;
BEGIN;
ALTER TABLE theirs.kept OWNER TO CURRENT_USER;
SELECT count(*) FROM gp_predict('predictions_owner.theirs');
ROLLBACK;

-- A new owner has the tables, too, where he may
GRANT CREATE ON SCHEMA theirs TO predictions_other;
SELECT gp_set_owner('predictions_owner.theirs', 'predictions_other');
SELECT relname, relowner::regrole FROM pg_class WHERE relname IN ('kept', 'theirs_predictions') ORDER BY 1;
SELECT count(*) FROM gp_predict('predictions_other.theirs');
SET ROLE predictions_other;
SELECT gp_drop_graph('theirs');
RESET ROLE;
SELECT relname FROM pg_class WHERE relname IN ('kept', 'theirs_predictions');

-- Where the owner may make no table, the model has the predictions
REVOKE CREATE ON SCHEMA theirs FROM predictions_other;
GRANT SELECT ON theirs.nodes, edges TO predictions_other;
SET ROLE predictions_other;
SELECT gp_create_graph('theirs', 'theirs.nodes', 'edges', features => '{x}', target => 'y');
SET client_min_messages = notice;
SELECT model FROM gp_fit('theirs', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1);
SET client_min_messages = warning;
SELECT predictions FROM gp_models WHERE owner = 'predictions_other';
SELECT count(*) FROM gp_predict('theirs');
SELECT gp_drop_graph('theirs');
RESET ROLE;

-- In a dump a table that is gone is none, and no number, which another table may have where the dump is restored; nor is one that the dump has not
SELECT 'public.nodes'::gp_table, 'public.gone'::gp_table, 'nodes'::gp_table, '"a.b'::gp_table, '-'::gp_table;
SELECT ('pg_class'::regclass::oid::text)::gp_table;
BEGIN;
UPDATE gp_model_catalog SET predictions = 'public.gone' WHERE name = 'hashed';
SELECT predictions FROM gp_models WHERE model = 'hashed';
SELECT count(*) FROM gp_predict('hashed');
ROLLBACK;
BEGIN;
UPDATE gp_model_catalog SET predictions = 'public.gone' WHERE name = 'hashed';
SELECT count(*) FROM gp_predict('hashed', 10);
ROLLBACK;
BEGIN;
UPDATE gp_model_catalog SET predictions = 'public.gone' WHERE name = 'hashed';
SELECT count(*) FROM gp_predict('hashed', -10);
ROLLBACK;
BEGIN;
DROP TABLE hashed_predictions;
SELECT predictions FROM gp_model_catalog WHERE name = 'hashed';
ROLLBACK;
-- A table before is kept while something needs the type of its rows
CREATE FUNCTION needs_rows() RETURNS SETOF hashed_predictions LANGUAGE sql AS 'SELECT * FROM hashed_predictions';
CALL gp_refresh('hashed');
CALL gp_refresh('hashed');
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'hashed';
DROP FUNCTION needs_rows;
-- A new owner has partitions, too, and nothing that the one before has added, which would run as the new one
GRANT CREATE ON SCHEMA public TO predictions_other;
SELECT gp_set_owner('hashed', 'predictions_other');
SELECT relname, relowner::regrole FROM pg_class WHERE relname ~ '^hashed_predictions2(_\d)?$' ORDER BY 1;
BEGIN;
CREATE INDEX ON hashed_predictions2_1 (node) WHERE node > 0;
SELECT gp_set_owner('predictions_other.hashed', CURRENT_USER);
ROLLBACK;
BEGIN;
CREATE POLICY trapped ON hashed_predictions2 USING (node > 0);
ALTER TABLE hashed_predictions2 ENABLE ROW LEVEL SECURITY;
SELECT gp_set_owner('predictions_other.hashed', CURRENT_USER);
ROLLBACK;
BEGIN;
ALTER TABLE hashed_predictions2 ADD x box DEFAULT NULL;
SELECT gp_set_owner('predictions_other.hashed', CURRENT_USER);
ROLLBACK;
BEGIN;
ALTER TABLE hashed_predictions2 ADD CHECK (node > 0);
SELECT gp_set_owner('predictions_other.hashed', CURRENT_USER);
ROLLBACK;
BEGIN;
CREATE RULE trapped AS ON DELETE TO hashed_predictions2_2 DO NOTHING;
SELECT gp_set_owner('predictions_other.hashed', CURRENT_USER);
ROLLBACK;
-- Who had rights on them beside the model has them no longer; who may read the model reads them
SELECT gp_grant('predictions_other.hashed', 'predictions_owner');
SET ROLE predictions_other;
GRANT ALL ON hashed_predictions2, hashed_predictions2_1 TO predictions_reader WITH GRANT OPTION;
GRANT UPDATE (class) ON hashed_predictions2 TO PUBLIC;
GRANT UPDATE, SELECT (node) ON hashed_predictions2 TO predictions_owner;
SET ROLE predictions_reader;
GRANT DELETE ON hashed_predictions2 TO predictions_owner;
RESET ROLE;
SELECT gp_set_owner('predictions_other.hashed', CURRENT_USER);
SELECT relname, privilege_type, grantee::regrole FROM pg_class, aclexplode(relacl) WHERE relname ~ '^hashed_predictions2(_\d)?$' AND grantee <> relowner;
SELECT attrelid::regclass, attname, privilege_type FROM pg_attribute, aclexplode(attacl) WHERE attrelid IN ('hashed_predictions2'::regclass, 'hashed_predictions2_1'::regclass);
SELECT relname, relowner = CURRENT_USER::regrole AS mine FROM pg_class WHERE relname ~ '^hashed_predictions2(_\d)?$' ORDER BY 1;
SELECT count(*) FROM gp_predict('hashed', top => NULL);

-- Ids of a domain: the table has them in the type of their values, and goes with the graph as any other
CREATE DOMAIN ident AS int CHECK (VALUE > 0);
CREATE TABLE named AS SELECT id::ident AS id, x, y FROM nodes;
SELECT gp_create_graph('named', 'named', 'edges', features => '{x}', target => 'y');
SELECT model FROM gp_fit('named', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1);
SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = 'named_predictions'::regclass AND attname = 'node';
SELECT differ('named');
SELECT node, pg_typeof(node) FROM gp_predict('named', 10::ident);
-- A grantee's privileges keep the role, and his view the model, which CASCADE takes along
CREATE ROLE predictions_viewer;
CREATE SCHEMA viewed AUTHORIZATION predictions_viewer;
SELECT gp_grant('named', 'predictions_viewer');
SET ROLE predictions_viewer;
CREATE VIEW viewed.named AS SELECT node, class FROM named_predictions;
RESET ROLE;
SELECT gp_drop_model('named');
CALL gp_refresh('named');
DROP SCHEMA viewed CASCADE;
DROP ROLE predictions_viewer;
CREATE SCHEMA viewed AUTHORIZATION predictions_viewer;
SET ROLE predictions_viewer;
CREATE VIEW viewed.named AS SELECT node, class FROM named_predictions;
RESET ROLE;
DROP TABLE named_predictions CASCADE;
SELECT gp_revoke('named', 'predictions_viewer');
DROP SCHEMA viewed;
DROP ROLE predictions_viewer;
SELECT gp_set_owner('named', 'predictions_other');
-- A table that REASSIGN OWNED gives away leaves the model without one, until its graph follows, or a refresh
BEGIN;
REASSIGN OWNED BY predictions_other TO predictions_reader;
SAVEPOINT gone;
SELECT count(*) FROM gp_predict('predictions_other.named', top => NULL);
ROLLBACK TO gone;
SELECT gp_set_owner('predictions_other.named', 'predictions_reader');
SELECT count(*) FROM gp_predict('predictions_reader.named');
ROLLBACK TO gone;
GRANT SELECT ON named, edges TO predictions_other;
CALL gp_refresh('predictions_other.named');
SELECT count(*) FROM gp_predict('predictions_other.named');
ROLLBACK;
SELECT gp_drop_graph('predictions_other.named');
DROP TABLE named;
DROP DOMAIN ident;

-- Where the owner may make no table, predictions come in and are kept inside, the very same ones
CREATE SCHEMA closed;
GRANT USAGE ON SCHEMA closed TO predictions_other;
CREATE TABLE closed.nodes AS TABLE nodes;
GRANT SELECT ON closed.nodes TO predictions_other;
CREATE FUNCTION fit_closed(target name, kernel gp_kernel) RETURNS TABLE (predictions regclass, rows bigint, differ bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gp_create_graph('ours', 'nodes', 'edges', features => '{x}', target => target);
    PERFORM gp_fit('ours', kernel => kernel, strategy => 'sql', landmarks => 50, nugget => 0.1);
    SET LOCAL ROLE predictions_other;
    PERFORM gp_create_graph('closed', 'closed.nodes', 'edges', features => '{x}', target => target);
    PERFORM gp_fit('closed', kernel => kernel, strategy => 'sql', landmarks => 50, nugget => 0.1);
    SELECT m.predictions INTO predictions FROM gp_models AS m WHERE model = 'closed';
    RESET ROLE;
    SELECT count(*) INTO rows FROM gp_predict('predictions_other.closed', NULL::int);
    SELECT count(*) INTO differ FROM (SELECT * FROM gp_predict('ours', NULL::int) EXCEPT SELECT * FROM gp_predict('predictions_other.closed', NULL::int)) AS d;
    PERFORM gp_drop_graph('predictions_other.closed'), gp_drop_graph('ours');
    RETURN NEXT;
END $$;
GRANT SELECT ON edges TO predictions_other;
SELECT * FROM unnest('{y,v}'::name[]) AS target, fit_closed(target, 'gcn');
SELECT * FROM unnest('{y,v}'::name[]) AS target, fit_closed(target, 'laplacian(sigma2=10)');
-- Nodes without features have no kernel, and get the shares of the classes
UPDATE nodes SET x = '{0,0,0,0}' WHERE id > 1700;
UPDATE closed.nodes SET x = '{0,0,0,0}' WHERE id > 1700;
RESET client_min_messages;
SELECT * FROM fit_closed('y', 'X0*W');
SET client_min_messages = warning;
DROP FUNCTION fit_closed;

-- A refresh that reads, and then fails, has made a table, which the next one drops, should that fail, too
SELECT model FROM gp_fit('nodes', 'again', 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1);
ALTER TABLE gp_block ADD CHECK (part <> 'loo') NOT VALID;
SELECT count(*) FROM gp_predict('again');
\set VERBOSITY sqlstate
CALL gp_refresh('again');
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'again';
CALL gp_refresh('again');
\set VERBOSITY default
ALTER TABLE gp_block DROP CONSTRAINT gp_block_part_check;
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'again';
SELECT count(*) FROM gp_predict('again');
CALL gp_refresh('again');
SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'again';
SELECT relname FROM pg_class WHERE relname LIKE 'again_predictions%' AND relkind = 'r' ORDER BY 1;
SELECT count(*) FROM gp_predict('again');

DROP OWNED BY predictions_owner, predictions_reader, predictions_other CASCADE;
DROP ROLE predictions_owner, predictions_reader, predictions_other;
SELECT gp_drop_graph(g) FROM unnest('{nodes,divided,hashed,by_class,values}'::text[]) AS g;
SELECT relname FROM pg_class WHERE relname LIKE '%_predictions%';
DROP FUNCTION differ;
DROP SCHEMA closed CASCADE;
DROP TABLE nodes, edges, divided, hashed, by_class;
