-- Whose rights are missing, and what is for the owner alone
CREATE SCHEMA rights;
SET search_path = rights, public;
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE ROLE gnngp_ben;
CREATE ROLE gnngp_guest;
CREATE TABLE nodes AS SELECT i AS id, ARRAY[i % 7 + 1, i % 3]::real[] AS x, CASE WHEN i % 2 = 0 THEN 'class ' || i % 4 END AS y FROM generate_series(1, 60) i;
CREATE TABLE edges AS SELECT i AS src, i % 60 + 1 AS dst FROM generate_series(1, 60) i;
GRANT USAGE ON SCHEMA rights TO gnngp_ben, gnngp_guest;
GRANT SELECT ON nodes, edges TO gnngp_ben;
SET ROLE gnngp_ben;
SELECT gp_create_graph('g', 'nodes', 'edges', features => '{x}', target => 'y');
SELECT model FROM gp_fit('g', 'lv', kernel => 'gcn', nugget => 0.1, live => true);
SELECT model FROM gp_fit('g', 'plain', kernel => 'gcn', nugget => 0.1);
SELECT gp_grant('lv', 'gnngp_guest'), gp_grant('plain', 'gnngp_guest');
RESET ROLE;

-- Tables are read as the owner, whoever fits: it is his right that is missing
\set VERBOSITY default
\set SHOW_CONTEXT never
REVOKE SELECT ON edges FROM gnngp_ben;
SELECT gp_fit('gnngp_ben.g', 'lv', kernel => 'gcn');
SELECT gp_fit('gnngp_ben.g', 'lv', kernel => 'gcn', strategy => 'sql');
REVOKE SELECT ON nodes FROM gnngp_ben;
REVOKE USAGE ON SCHEMA rights FROM gnngp_ben;
CALL gp_refresh('gnngp_ben.plain');
SELECT outcome, message FROM gp_refreshes;
GRANT USAGE ON SCHEMA rights TO gnngp_ben;
SET ROLE gnngp_ben;
CALL gp_refresh('plain');
RESET ROLE;
GRANT SELECT ON nodes, edges TO gnngp_ben;

-- Rows that a policy hides from him are unknown nodes
ALTER TABLE nodes ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON nodes USING (id <= 20);
SET row_security = off;
CALL gp_refresh('gnngp_ben.plain');
RESET row_security;
ALTER TABLE nodes DISABLE ROW LEVEL SECURITY;
INSERT INTO edges VALUES (5, 2000);
CALL gp_refresh('gnngp_ben.plain');
DELETE FROM edges WHERE dst = 2000;
SET client_min_messages = error;
SELECT FROM gp_create_graph('procs', 'pg_catalog.pg_proc', 'pg_catalog.pg_depend', id => 'oid', src => 'objid', dst => 'refobjid');
SET client_min_messages = warning;
CREATE FUNCTION hint_of(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    h text;
BEGIN
    EXECUTE command;
    RETURN 'no error';
EXCEPTION WHEN others THEN
    GET STACKED DIAGNOSTICS h = pg_exception_hint;
    RETURN h;
END $$;
SELECT hint_of($$SELECT gp_fit_links('procs')$$);
SELECT gp_drop_graph('procs');

-- What a grantee is refused: first of all what is for the owner
GRANT SELECT ON nodes, edges TO gnngp_guest;
SET ROLE gnngp_guest;
SELECT gp_predict_live('lv', 4, given_nodes => ARRAY[5, 6], given_classes => ARRAY['class 0', 'class 0']);
SELECT gp_explain('plain', 4);
SELECT gp_next_labels('plain');
SELECT gp_loo('plain');
\set SHOW_CONTEXT errors
SELECT gp_report('plain');
SELECT gp_report('nothing');
\set SHOW_CONTEXT never
SELECT gp_heldout_links('plain');
SELECT gp_predict_live('plain', 4);
RESET ROLE;

SELECT gp_drop_graph('gnngp_ben.g');
DROP SCHEMA rights CASCADE;
DROP OWNED BY gnngp_ben, gnngp_guest;
DROP ROLE gnngp_ben, gnngp_guest;
