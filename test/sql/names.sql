-- Whose model a name means: one's own, a role's, one that was granted by name, one that everybody has.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA names;
SET search_path = names, public;
\pset format unaligned
\pset tuples_only on
CREATE ROLE names_team;
CREATE ROLE names_alice;
CREATE ROLE names_bob IN ROLE names_team;
CREATE ROLE names_mallory;
CREATE ROLE names_trudy;
GRANT USAGE, CREATE ON SCHEMA names TO PUBLIC;

CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    owner text;
BEGIN
    EXECUTE statement INTO owner;
    RETURN owner;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ': ' || SQLERRM || '. ' || hint;
END $$;

-- A model of a role; what it predicts tells whose it is
CREATE FUNCTION make(who name, model text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET ROLE %I', who);
    IF to_regclass(format('%I', who || '_node')) IS NULL THEN
        EXECUTE format('CREATE TABLE %I AS SELECT i AS id, CASE WHEN i < 4 THEN %L END AS class FROM generate_series(1, 6) i', who || '_node', who);
        EXECUTE format('CREATE TABLE %I AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 5) i', who || '_edge');
        PERFORM gp_create_graph('g', format('%I', who || '_node')::regclass, format('%I', who || '_edge')::regclass, target => 'class');
    END IF;
    PERFORM gp_fit('g', model, kernel => 'laplacian');
    RESET ROLE;
    RETURN who;
END $$;
CREATE FUNCTION grants(who name, model text, grantee name) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET ROLE %I', who);
    PERFORM gp_grant(model, grantee);
    RESET ROLE;
END $$;
-- Whose model bob has by a name
CREATE FUNCTION bob(model text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    SET ROLE names_bob;
    answer := try(format('SELECT DISTINCT class FROM gp_predict(%L)', model));
    RESET ROLE;
    RETURN answer;
END $$;

SELECT make(who, 'm') FROM unnest('{names_alice,names_mallory,names_trudy}'::name[]) AS who;
SELECT bob('m');
-- What everybody has is found, until two roles have granted it to everybody
SELECT grants('names_mallory', 'm', 'public');
SELECT bob('m');
SELECT grants('names_trudy', 'm', 'public');
SELECT bob('m'), bob('names_trudy.m');
-- A grant by name comes before both, be it to a role that bob is a member of
SELECT grants('names_alice', 'm', 'names_team');
SELECT bob('m');
-- Another one of the same kind leaves it open
SELECT grants('names_trudy', 'm', 'names_bob');
SELECT bob('m');
SET ROLE names_trudy;
SELECT gp_revoke('m', 'names_bob'), gp_revoke('m', 'public');
RESET ROLE;
SELECT bob('m');
-- What a role of bob's has comes before what he was granted, and his own before that
SELECT make('names_team', 'm');
SELECT bob('m');
SELECT make('names_bob', 'm');
SELECT bob('m'), bob('names_team.m'), bob('names_alice.m'), bob('names_mallory.m');
SET ROLE names_bob;
SELECT gp_drop_model('m');
SET ROLE names_team;
SELECT gp_drop_model('m');
-- Once the grant is revoked the name alone does not mean the stranger's
SET ROLE names_alice;
SELECT gp_revoke('m', 'names_team');
RESET ROLE;
SELECT bob('m');
SELECT bob('names_mallory.m'), bob('names_alice.m');
-- Bob sees nothing of it, and fits a model of this name of his own
SET ROLE names_bob;
SELECT model, owner FROM gp_models;
SELECT count(*) FROM gnngp_internal.gp_grant_catalog;
SELECT count(*) FROM gnngp_internal.gp_block b JOIN gnngp_internal.gp_model_catalog m ON m.id = b.model WHERE m.owner::text = 'names_alice';
SELECT model FROM gp_fit('g', 'm', kernel => 'laplacian');
SELECT gp_drop_model('m');
EXPLAIN (COSTS OFF) SELECT * FROM gp_predict('m');
RESET ROLE;
SELECT bob('m');
-- The grant is given again, and its model is no more: there is one of another role that was granted before
SELECT grants('names_alice', 'm', 'names_bob');
SELECT bob('m');
SET ROLE names_alice;
SELECT gp_revoke('m', 'names_bob');
RESET ROLE;
SELECT left(bob('m'), 5);
SET ROLE names_alice;
SELECT gp_drop_model('m');
RESET ROLE;
SELECT bob('m');
SELECT count(*) FROM gnngp_internal.gp_grant_catalog WHERE revoked;

-- A model of everybody's is found within a parallel query
SET ROLE names_alice;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT gnngp_internal.model_id('m') > 0 AS found, count(*) > 0 AS rows FROM pg_catalog.pg_proc;
SELECT gnngp_internal.model_id('m') > 0 AS found, count(*) > 0 AS rows FROM pg_catalog.pg_proc;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET ROLE;

-- Nobody else's graph stands in for one's own, nor that of a role
SELECT make('names_team', 't');
SET ROLE names_bob;
SELECT try($$SELECT gp_drop_graph('names_mallory.g')$$);
SELECT gp_drop_graph('g');
SELECT model FROM gp_fit('g', 'u', kernel => 'laplacian');
SELECT owner, model FROM gp_models ORDER BY model;
SELECT try($$SELECT gp_drop_graph('u')$$);
SELECT gp_drop_graph('g');
SELECT try($$SELECT gp_drop_graph('g')$$);
RESET ROLE;
SELECT gp_drop_graph(who || '.g') FROM unnest('{names_alice,names_mallory,names_trudy}'::text[]) AS who;
SELECT count(*) FROM gnngp_internal.gp_grant_catalog;
DROP OWNED BY names_team, names_alice, names_bob, names_mallory, names_trudy;
DROP SCHEMA names CASCADE;
DROP ROLE names_alice, names_bob, names_mallory, names_trudy, names_team;
