-- Roles that are renamed, dropped and made again, and graphs that are given away
SET search_path = public, gnngp_internal;
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
\pset null NULL
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_detail.sql'
\i :include
CREATE FUNCTION visible() RETURNS text LANGUAGE sql AS $$
    SELECT format('graphs %s, models %s, blocks %s, grants %s, refreshes %s',
        (SELECT string_agg(owner || ' ' || graph, ', ' ORDER BY owner::text COLLATE "C", graph) FROM gp_graphs),
        (SELECT string_agg(owner || ' ' || model, ', ' ORDER BY owner::text COLLATE "C", model) FROM gp_models),
        (SELECT count(*) FROM gnngp_internal.gp_block),
        (SELECT string_agg(owner::text || ' to ' || grantee::text, ', ' ORDER BY id) FROM gnngp_internal.gp_grant_catalog WHERE NOT revoked),
        (SELECT count(*) FROM gp_refreshes))
$$;
CREATE TABLE n AS
    SELECT i AS id, ARRAY[i % 13, i % 10, 3]::real[] AS x, CASE WHEN i % 3 = 0 THEN 'class ' || i % 2 END AS y
    FROM generate_series(1, 60) i;
CREATE TABLE e AS SELECT i AS src, (i * 7 + 3) % 60 + 1 AS dst FROM generate_series(1, 60) i;
GRANT SELECT ON n, e TO PUBLIC;
CREATE ROLE gnngp_bob;
CREATE ROLE gnngp_reader;
CREATE ROLE gnngp_team;
CREATE ROLE gnngp_member IN ROLE gnngp_team;
CREATE ROLE "gnngp o'd ""d.ro le";

-- The type
SELECT 'gnngp_bob'::gp_role, 'public'::gp_role, gp_role_oid('gnngp_bob') = 'gnngp_bob'::regrole, gp_role_oid('public');
SELECT 'gnngp_nobody'::gp_role;
SELECT 'pg_gone:gnngp_bob'::gp_role, gp_role_oid('pg_gone:gnngp_bob');
SELECT 'pg_gone:' || repeat('é', 31) LIKE ('pg_gone:' || repeat('é', 31))::gp_role::text::name::text || '%' AS cut;
SELECT try($$SELECT 'pg_gone:public'::gp_role$$);
SELECT try($$SELECT repeat('a', 64)::gp_role$$);
SELECT try($$SELECT NULL::text::gp_role$$);

-- A role that is renamed keeps what it has
SET ROLE gnngp_bob;
SELECT gp_create_graph('g', 'n', 'e', features => '{x}', target => 'y');
SELECT model, nodes FROM gp_fit('g', kernel => 'gcn(layers=1)', nugget => 0.5);
SELECT gp_grant('g', 'gnngp_reader');
RESET ROLE;
ALTER ROLE gnngp_bob RENAME TO gnngp_robert;
ALTER ROLE gnngp_reader RENAME TO gnngp_lector;
SET ROLE gnngp_robert;
SELECT visible();
CALL gp_refresh('gnngp_robert.g');
SELECT model, nodes FROM gp_fit('g', kernel => 'gcn(layers=1)', nugget => 0.5);
SELECT version, count(*) OVER () FROM gnngp_internal.gp_model_catalog;
SET ROLE gnngp_lector;
SELECT visible();

-- A new role of the old name has none of it
RESET ROLE;
CREATE ROLE gnngp_bob;
CREATE ROLE gnngp_reader;
SET ROLE gnngp_bob;
SELECT visible();
SELECT try($$SELECT gp_grant('g', 'public')$$);
SELECT try($$SELECT gp_drop_model('g')$$);
SELECT try($$SELECT gp_fit('g')$$);
SELECT try($$CALL gp_refresh('g')$$);
SELECT try($$SELECT gp_drop_graph('g')$$);
SELECT try($$SELECT gp_set_owner('g', 'gnngp_bob')$$);
SELECT gp_create_graph('g', 'n', 'e', features => '{x}', target => 'y');
SELECT visible();
SET ROLE gnngp_reader;
SELECT visible();

-- Nor has a grantee that was dropped and made again
RESET ROLE;
DROP ROLE gnngp_lector, gnngp_reader;
CREATE ROLE gnngp_lector;
CREATE ROLE gnngp_reader;
SET ROLE gnngp_lector;
SELECT visible();
SET ROLE gnngp_reader;
SELECT visible();
SET ROLE gnngp_robert;
SELECT visible();
SELECT gp_grant('g', 'gnngp_reader');
SELECT visible();
SELECT gp_revoke('g', 'gnngp_reader');
SELECT visible();
SELECT gp_grant('g', 'public');
SELECT gp_grant('g', 'public');
SELECT visible();
SET ROLE gnngp_reader;
SELECT visible();

-- What belongs to a role that is gone is for superusers
RESET ROLE;
DROP ROLE gnngp_robert;
SELECT visible();
SET ROLE gnngp_reader;
SELECT visible();
RESET ROLE;
CREATE ROLE gnngp_robert;
SET ROLE gnngp_robert;
SELECT visible();
SELECT try($$SELECT gp_set_owner('"pg_gone:gnngp_bob".g', 'gnngp_robert')$$);
RESET ROLE;
SELECT try($$SELECT gp_fit('pg_gone:gnngp_bob.g')$$);
SELECT try($$CALL gp_refresh('pg_gone:gnngp_bob.g')$$);
SELECT try($$SELECT gp_drop_graph('g')$$);

-- They give it away
SELECT try($$SELECT gp_set_owner('pg_gone:gnngp_bob.g', 'gnngp_bob')$$);
SELECT try($$SELECT gp_set_owner('pg_gone:gnngp_bob.g', 'gnngp_nobody')$$);
SELECT try($$SELECT gp_set_owner('pg_gone:gnngp_bob.g', 'public')$$);
SELECT try($$SELECT gp_set_owner('pg_gone:gnngp_bob.g', NULL)$$);
SELECT try($$SELECT gp_set_owner(NULL, 'gnngp_bob')$$);
SELECT try($$SELECT gp_set_owner('missing', 'gnngp_bob')$$);
SELECT visible();
SELECT gp_set_owner('"pg_gone:gnngp_bob".g', 'gnngp o''d "d.ro le');
SELECT visible();
SET ROLE "gnngp o'd ""d.ro le";
SELECT visible();
CALL gp_refresh('"gnngp o''d ""d.ro le".g');
SELECT gp_revoke('g', 'public');

-- An owner gives to roles that it could become
SELECT try($$SELECT gp_set_owner('g', 'gnngp_team')$$ ) ~ '^42501';
SELECT try($$SELECT gp_set_owner('g', 'gnngp_bob')$$ ) ~ '^42501';
SELECT gp_set_owner('g', 'gnngp o''d "d.ro le');
RESET ROLE;
GRANT gnngp_team TO "gnngp o'd ""d.ro le";
SET ROLE "gnngp o'd ""d.ro le";
SELECT gp_set_owner('g', 'gnngp_team');
SELECT visible();
SET ROLE gnngp_member;
SELECT visible();
SELECT try($$SELECT gp_set_owner('g', 'gnngp_reader')$$ ) ~ '^42501';
SET ROLE gnngp_bob;
SELECT try($$SELECT gp_set_owner('gnngp_team.g', 'gnngp_bob')$$);
SET ROLE gnngp_member;
SELECT gp_set_owner('gnngp_team.g', 'gnngp_member');
SELECT visible();

-- A model of the name is in the way as well
RESET ROLE;
GRANT gnngp_bob TO gnngp_member;
SET ROLE gnngp_bob;
SELECT gp_create_graph('h', 'n', 'e', features => '{x}', target => 'y');
SELECT model FROM gp_fit('h', kernel => 'gcn(layers=1)', nugget => 0.5, model => 'g');
SELECT gp_drop_graph('g');
SET ROLE gnngp_member;
SELECT try($$SELECT gp_set_owner('gnngp_member.g', 'gnngp_bob')$$);
SELECT visible();
SELECT gp_drop_model('gnngp_bob.g');
SELECT gp_set_owner('g', 'gnngp_bob');
SELECT visible();

-- 'owner.name' means what that owner has, whatever somebody else names so; one's own comes first
RESET ROLE;
SET ROLE "gnngp o'd ""d.ro le";
SELECT gp_create_graph('gnngp_bob.g', 'n', 'e', target => 'y');
SELECT model FROM gp_fit('gnngp_bob.g', kernel => 'gcn(layers=1)', nugget => 5);
SELECT gp_grant('gnngp_bob.g', 'public');
RESET ROLE;
SELECT gp_set_owner('g', 'gnngp_bob');
SET ROLE gnngp_member;
SELECT count(*) FROM (SELECT * FROM gp_predict('gnngp_bob.g') EXCEPT SELECT * FROM gp_predict('"gnngp_bob"."g"')) d;
SELECT count(*) > 0 FROM (SELECT * FROM gp_predict('gnngp_bob.g') EXCEPT SELECT * FROM gp_predict('"gnngp o''d ""d.ro le"."gnngp_bob.g"')) d;
RESET ROLE;
SELECT gp_set_owner('gnngp_bob.g', 'gnngp_team');
SELECT owner, graph FROM gp_graphs ORDER BY graph, owner::text COLLATE "C";
SELECT gp_drop_graph('"gnngp o''d ""d.ro le"."gnngp_bob.g"');
SELECT gp_set_owner('g', 'gnngp_bob');
SET ROLE gnngp_bob;
SELECT gp_create_graph('no role.g', 'n', 'e');
SELECT gp_drop_graph('no role.g');
RESET ROLE;
SELECT owner, graph FROM gp_graphs ORDER BY graph, owner::text COLLATE "C";

-- Two roles of one name that are gone: the older graph is meant
RESET ROLE;
DROP ROLE gnngp_bob;
CREATE ROLE gnngp_bob;
SET ROLE gnngp_bob;
SELECT gp_create_graph('h', 'e', 'e', id => 'src');
RESET ROLE;
DROP ROLE gnngp_bob;
SELECT owner, graph, nodes FROM gp_graphs ORDER BY created;
SELECT try($$SELECT gp_drop_graph('h')$$);
SELECT gp_set_owner('pg_gone:gnngp_bob.h', 'gnngp_team');
SELECT owner, graph, nodes FROM gp_graphs ORDER BY created;
SELECT gp_drop_graph('gnngp_team.h');
SELECT gp_drop_graph('h');
SELECT gp_drop_graph('g');
SELECT visible();

DROP FUNCTION visible, try;
DROP TABLE n, e;
DROP ROLE gnngp_reader, gnngp_lector, gnngp_robert, gnngp_team, gnngp_member, "gnngp o'd ""d.ro le";
