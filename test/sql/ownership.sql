-- Who sees and who may change a graph or a model
\set VERBOSITY terse
SET client_min_messages = warning;
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_detail.sql'
\i :include
\pset format unaligned
\pset tuples_only on

CREATE ROLE gnngp_alice;
CREATE ROLE gnngp_bob;
CREATE ROLE gnngp_carol;
CREATE ROLE "gnngp ""odd.name";
CREATE ROLE gnngp_team;
GRANT gnngp_team TO gnngp_alice;
CREATE TABLE nodes (id bigint, x real[], y text);
CREATE TABLE links (src bigint, dst bigint);
GRANT SELECT ON nodes, links TO gnngp_alice, gnngp_bob, gnngp_team, "gnngp ""odd.name";
GRANT SELECT (src, dst) ON links TO gnngp_carol;

-- SELECT on the tables is needed, on the columns suffices
SET ROLE gnngp_carol;
SELECT try($$SELECT gp_create_graph('g', 'nodes', 'links')$$);
RESET ROLE;
GRANT SELECT (id) ON nodes TO gnngp_carol;
SET ROLE gnngp_carol;
SELECT gp_create_graph('carols', 'nodes', 'links');
SELECT try($$SELECT gp_create_graph('h', 'nodes', 'links', features => '{x}')$$);

-- Everybody has names of their own
SET ROLE gnngp_alice;
SELECT gp_create_graph('shared', 'nodes', 'links', features => '{x}', target => 'y');
SET ROLE gnngp_bob;
SELECT gp_create_graph('shared', 'nodes', 'links');
SET ROLE gnngp_team;
SELECT gp_create_graph('teams', 'nodes', 'links');
SET ROLE "gnngp ""odd.name";
SELECT gp_create_graph('odd', 'nodes', 'links');
RESET ROLE;
SELECT owner, graph FROM gp_graphs ORDER BY owner::text COLLATE "C", graph;
SET ROLE gnngp_alice;
SELECT owner, graph FROM gp_graphs ORDER BY owner::text COLLATE "C", graph;
SET ROLE gnngp_bob;
SELECT owner, graph FROM gp_graphs ORDER BY owner::text COLLATE "C", graph;

-- A look-up takes one's own, else the only visible one, else it asks
SELECT try($$SELECT gp_drop_graph('teams')$$);
SELECT try($$SELECT gp_drop_graph('gnngp_alice.shared')$$);
SELECT gp_drop_graph('shared');
SELECT try($$SELECT gp_drop_graph('shared')$$);
SELECT gp_create_graph('shared', 'nodes', 'links');
RESET ROLE;
SELECT try($$SELECT gp_drop_graph('shared')$$);
SELECT gp_drop_graph('gnngp_bob.shared');
SELECT gp_drop_graph('"gnngp ""odd.name".odd');
SET ROLE gnngp_alice;
SELECT gp_drop_graph('teams');
RESET ROLE;

-- A model, as gp_fit would store it
INSERT INTO gnngp_internal.gp_model_catalog (version, name, owner, graph, fitted, asked_kernel, asked_task, asked_strategy, asked_method, task, kernel,
                                             strategy, nodes, labelled, id_type, integer_ids, classes, class_labels)
    SELECT 1, 'm', owner, id, now(), 'gcn', 'auto', 'auto', 'gp', 'classification', 'gcn', 'exact', 3, 2, 'bigint', true, 2, '{a,b}' FROM gnngp_internal.gp_graph_catalog WHERE name = 'shared';
INSERT INTO gnngp_internal.gp_block (model, version, part, block, first_key, nrows, data)
    SELECT id, 1, 'node', 0, 0, 1, '\x00' FROM gnngp_internal.gp_model_catalog;
INSERT INTO gnngp_internal.gp_refresh_log (model, outcome, message) SELECT id, 'running', NULL FROM gnngp_internal.gp_model_catalog;

CREATE FUNCTION visible() RETURNS text LANGUAGE sql AS $$
    SELECT format('graphs %s, models %s, blocks %s, grants %s, refreshes %s',
        (SELECT count(*) FROM gp_graphs), (SELECT count(*) FROM gp_models),
        (SELECT count(*) FROM gnngp_internal.gp_block), (SELECT count(*) FROM gnngp_internal.gp_grant_catalog WHERE NOT revoked),
        (SELECT count(*) FROM gp_refreshes))
$$;
SET ROLE gnngp_alice;
SELECT visible();
SELECT model, outcome FROM gp_refreshes;
SET ROLE gnngp_bob;
SELECT visible();
SELECT try($$SELECT gp_drop_model('m')$$);
SELECT try($$SELECT gp_grant('m', 'gnngp_bob')$$);

-- Granting
SET ROLE gnngp_alice;
SELECT try($$SELECT gp_grant('m', 'gnngp_nobody')$$);
SELECT try($$SELECT gp_grant('m', NULL)$$);
SELECT try($$SELECT gp_grant(NULL, 'gnngp_bob')$$);
SELECT gp_grant('m', 'gnngp_bob');
SELECT gp_grant('gnngp_alice.m', 'gnngp_bob');
SELECT visible();
SET ROLE gnngp_bob;
SELECT visible();
SELECT model, owner, graph, task, kernel FROM gp_models;
SELECT try($$SELECT gp_drop_model('m')$$);
SELECT try($$SELECT gp_grant('m', 'gnngp_carol')$$);
SELECT try($$SELECT gp_revoke('m', 'gnngp_bob')$$);
SELECT try($$CALL gp_refresh('m')$$);
SET ROLE gnngp_carol;
SELECT visible();
SET ROLE gnngp_alice;
SELECT gp_grant('m', 'public');
SET ROLE gnngp_carol;
SELECT visible();
SET ROLE gnngp_alice;
SELECT gp_revoke('m', 'public');
SELECT gp_revoke('m', 'gnngp_bob');
SELECT gp_revoke('m', 'gnngp_bob');
SELECT try($$SELECT gp_revoke('m', 'gnngp_nobody')$$);
SET ROLE gnngp_bob;
SELECT visible();
SET ROLE gnngp_carol;
SELECT visible();

-- Nobody writes to the catalog directly
SET ROLE gnngp_alice;
SELECT try($$INSERT INTO gnngp_internal.gp_graph_catalog (name) VALUES ('x')$$);
SELECT try($$UPDATE gnngp_internal.gp_model_catalog SET owner = 'gnngp_bob'$$);
SELECT try($$DELETE FROM gnngp_internal.gp_block$$);
SELECT try($$INSERT INTO gnngp_internal.gp_grant_catalog VALUES (1, 'gnngp_alice', 'gnngp_bob')$$);
SELECT try($$TRUNCATE gnngp_internal.gp_refresh_log$$);
SELECT try($$SELECT nextval('gnngp_internal.gp_model_catalog_id_seq')$$);

-- Nor does a search_path of the caller's change what the functions do
CREATE TEMP TABLE gp_model_catalog (id bigint, name text, owner name);
CREATE TEMP TABLE pg_roles (rolname name, oid oid);
SET search_path = pg_temp, pg_catalog, public;
SELECT try($$SELECT gp_grant('m', 'gnngp_bob')$$);
SELECT count(*) FROM public.gp_models;
SELECT gp_revoke('m', 'gnngp_bob');
RESET search_path;
DROP TABLE pg_temp.gp_model_catalog, pg_temp.pg_roles;
-- row_security = off, as a dump sets it, does not stop the functions
SET row_security = off;
SELECT gp_grant('m', 'gnngp_bob');
SELECT gp_revoke('m', 'gnngp_bob');
RESET row_security;

-- A role that is gone hides its rows from all but superusers
RESET ROLE;
REVOKE ALL ON nodes, links FROM gnngp_alice;
DROP ROLE gnngp_alice;
SELECT visible();
SET ROLE gnngp_bob;
SELECT visible();
RESET ROLE;
SELECT try($$CALL gp_refresh('m')$$);
UPDATE gnngp_internal.gp_model_catalog SET asked_task = NULL;
SELECT try($$CALL gp_refresh('m')$$);

-- A graph goes with its models and all that belongs to them
SELECT gp_drop_graph('shared');
SELECT visible();
SELECT gp_drop_graph('carols');
DROP FUNCTION visible, try;
DROP TABLE nodes, links;
DROP ROLE gnngp_bob, gnngp_carol, "gnngp ""odd.name", gnngp_team;
