-- Edges of tables that Citus has spread over nodes come packed, where its catalogs say so: here they only say so
SET search_path = public, gnngp_internal;
\pset format unaligned
\set ON_ERROR_ROLLBACK on
CREATE TABLE spread_nodes AS
    SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'side ' || sign(i) END AS side FROM generate_series(-40, 40) AS i;
-- Edges both ways, repeated, and from a node to itself
CREATE TABLE spread_edges AS
    SELECT i::smallint AS src, (i * i * 7) % 41 * sign(i)::int AS dst FROM generate_series(-40, 40) AS i
    UNION ALL SELECT i, i - 1 FROM generate_series(-39, 40) AS i
    UNION ALL SELECT i - 1, i FROM generate_series(-39, 40, 2) AS i
    UNION ALL SELECT 7, 7 FROM generate_series(1, 3);
ALTER TABLE spread_edges ADD weight real DEFAULT 1;

SELECT gp_ends(gp_graph(a, b)) FROM (VALUES (5, 9), (9, 5), (-3, -3), (9, 12), (5, 9)) AS v(a, b);
SELECT gp_ends(NULL);

BEGIN;
SET LOCAL allow_system_table_mods = on;
SET LOCAL track_functions = 'all';
SET LOCAL client_min_messages = error;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass);
CREATE TABLE pg_catalog.pg_dist_object (classid oid, objid oid);
CREATE FUNCTION packed() RETURNS bigint LANGUAGE sql AS
    $$ SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_xact_user_functions WHERE funcname = 'gp_ends' $$;
SELECT gp_create_graph('spread', 'spread_nodes', 'spread_edges', target => 'side');
SELECT gp_create_graph('directed', 'spread_nodes', 'spread_edges', target => 'side', directed => true);
SELECT gp_create_graph('weighted', 'spread_nodes', 'spread_edges', target => 'side', weight => 'weight');

-- As rows
SELECT edges FROM gp_fit('spread', 'rows', kernel => 'gcn');
INSERT INTO pg_dist_partition VALUES ('spread_edges');
SELECT edges FROM gp_fit('spread', 'rows too', kernel => 'gcn');
SELECT packed();

-- Packed: the same model
INSERT INTO pg_dist_object SELECT 'pg_extension'::regclass, oid FROM pg_extension WHERE extname = 'gnngp';
SELECT edges FROM gp_fit('spread', 'packed', kernel => 'gcn');
SELECT packed();
SELECT count(*) FROM (SELECT * FROM gp_predict('rows', top => NULL) EXCEPT ALL SELECT * FROM gp_predict('packed', top => NULL)) AS d;

-- Directions, weights and texts are no matter for a value
SELECT edges FROM gp_fit('directed', kernel => 'gcn');
SELECT edges FROM gp_fit('weighted', kernel => 'gcn');
CREATE TABLE spread_names AS SELECT id::text AS id, side FROM spread_nodes;
CREATE TABLE spread_name_edges AS SELECT src::text AS src, dst::text AS dst FROM spread_edges;
INSERT INTO pg_dist_partition VALUES ('spread_name_edges');
SELECT gp_create_graph('names', 'spread_names', 'spread_name_edges', target => 'side');
SELECT edges FROM gp_fit('names', kernel => 'gcn');
SELECT packed();

-- Nor is a value made of a table that is here, or in memory that there is not
CREATE TABLE spread_long AS SELECT src, dst FROM spread_edges, generate_series(1, 2000);
SELECT gp_create_graph('long', 'spread_nodes', 'spread_long', target => 'side');
SELECT edges FROM gp_fit('long', kernel => 'gcn');
SELECT packed();
INSERT INTO pg_dist_partition VALUES ('spread_long');
SET LOCAL gnngp.memory_limit = '32MB';
SELECT edges FROM gp_fit('long', kernel => 'gcn');
SELECT packed();
SET LOCAL gnngp.memory_limit = '128MB';
SELECT edges FROM gp_fit('long', kernel => 'gcn');
SELECT packed();
RESET gnngp.memory_limit;

-- What is wrong with a row is said as ever
SAVEPOINT clean;
INSERT INTO spread_edges VALUES (99, 99), (99, 99);
SELECT gp_fit('spread');
ROLLBACK TO clean;
INSERT INTO spread_edges VALUES (NULL, 1), (2, NULL), (NULL, 99);
SELECT gp_fit('spread');
ROLLBACK TO clean;
DELETE FROM spread_edges;
INSERT INTO spread_edges VALUES (NULL, NULL);
SELECT gp_fit('spread');
ROLLBACK TO clean;
DELETE FROM spread_edges;
SELECT edges FROM gp_fit('spread', 'none', kernel => 'gcn');
ROLLBACK TO clean;

-- Nodes come as arrays of their columns: the same models from features in columns and in an array, of classes, texts and values
CREATE TABLE spread_rich AS SELECT id, side, id % 5 AS part, id * 0.5::float8 AS v, id::float8 AS a, (id % 7)::smallint AS b, (id * id)::real AS c,
        ARRAY[id % 3, id % 4, 1]::real[] AS x, ARRAY[id % 3, id % 4, 1]::float8[] AS y FROM spread_nodes;
CREATE FUNCTION fits(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    g text;
    how text[];
    said text;
BEGIN
    FOREACH how SLICE 1 IN ARRAY '{{"{a,b,c}",side},{"{x}",part},{"{y}",v},{"{b}",v},{"{x}",side}}'::text[] LOOP
        PERFORM gp_create_graph('rich', 'spread_rich', 'spread_edges', features => how[1]::text[], target => how[2]);
        PERFORM gp_fit('rich', kernel => 'gcn', nugget => 0.1);
        SELECT md5(concat(said, string_agg(p::text, ';' ORDER BY node, class))) INTO said FROM gp_predict('rich', top => NULL) AS p;
        PERFORM gp_drop_graph('rich');
    END LOOP;
    RETURN said;
END $$;
SELECT fits('rows') AS as_rows \gset
INSERT INTO pg_dist_partition VALUES ('spread_rich');
SELECT fits('packed') = :'as_rows' AS same;
SET LOCAL gnngp.memory_limit = '1MB';
SELECT fits('no memory for arrays') = :'as_rows' AS same;
RESET gnngp.memory_limit;
SELECT gp_create_graph('rich', 'spread_rich', 'spread_edges', features => '{x}', target => 'side');
SAVEPOINT rich;
UPDATE spread_rich SET x = NULL WHERE id = 5;
SELECT gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
UPDATE spread_rich SET x = '{1,2}' WHERE id = 5;
SELECT gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
UPDATE spread_rich SET x = '{1,NULL,2}' WHERE id = 5;
SELECT gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
UPDATE spread_rich SET x = '{1,NaN,2}' WHERE id = 5;
SELECT gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
UPDATE spread_rich SET x = '{{1,3,2}}' WHERE id = 5;
SELECT gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
UPDATE spread_rich SET x = '[2:4]={1,3,2}' WHERE id = 5;
SELECT nodes FROM gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
UPDATE spread_rich SET x = '{}';
SELECT gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
UPDATE spread_rich SET id = NULL WHERE id = 5;
SELECT gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
UPDATE spread_rich SET id = 6 WHERE id = 5;
SELECT gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
DELETE FROM spread_rich;
SELECT gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;
-- Numbers that a double cannot hold are read as rows
ALTER TABLE spread_rich ALTER a TYPE numeric;
SELECT gp_alter_graph('rich', features => '{a,b}');
SELECT nodes FROM gp_fit('rich', kernel => 'gcn');
ROLLBACK TO rich;

-- Who may not make values, or has no memory for one, reads rows
CREATE ROLE spread_analyst;
GRANT SELECT ON spread_nodes, spread_edges, pg_dist_partition, pg_dist_object TO spread_analyst;
REVOKE EXECUTE ON FUNCTION gp_graph(bigint, bigint) FROM PUBLIC;
SET LOCAL ROLE spread_analyst;
SELECT gp_create_graph('analyst', 'spread_nodes', 'spread_edges', target => 'side');
SELECT edges FROM gp_fit('analyst', kernel => 'gcn');
RESET ROLE;
SELECT packed();
GRANT EXECUTE ON FUNCTION gp_graph(bigint, bigint) TO PUBLIC;
SET LOCAL ROLE spread_analyst;
SELECT edges FROM gp_fit('analyst', kernel => 'gcn');
RESET ROLE;
SELECT packed();
ROLLBACK;
DROP TABLE spread_nodes, spread_edges;
