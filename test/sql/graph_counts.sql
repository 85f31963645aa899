-- What gp_create_graph counts and warns of, graphs without a node table, and weights that mislead
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE SCHEMA counts;
SET search_path = counts, public;
CREATE TABLE person (id integer PRIMARY KEY, age float8, town text, class text);
INSERT INTO person
SELECT i, CASE WHEN i % 10 > 0 THEN i END, CASE WHEN i % 7 > 0 THEN 'town ' || i % 3 END, CASE WHEN i <= 40 THEN 'c' || i % 3 END
FROM generate_series(1, 100) i;
CREATE TABLE knows (src integer, dst integer);
INSERT INTO knows SELECT i, i % 50 + 1 FROM generate_series(1, 60) i;
INSERT INTO knows VALUES (1, 1), (1, 2), (2, 1), (61, 62);

-- The counts by statements of their own; what a fit reads is what is left
CREATE FUNCTION counted(called text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    c record;
BEGIN
    EXECUTE 'SELECT * FROM ' || called INTO c;
    RETURN NEXT (SELECT format('%s nodes, %s labels of %s classes, %s NULLs', c.nodes = count(*), c.labels = count(class),
                               c.classes = count(DISTINCT class), c.null_features = sum(num_nulls(age, town))) FROM person);
    RETURN NEXT format('%s edges, %s without a node, %s loops, %s repeated, %s bare components', c.edges = (SELECT count(*) FROM knows),
                       c.edges_without_node, c.self_loops, c.duplicates, c.unlabelled_components);
END $$;
SELECT counted($$gp_create_graph('g', 'person', 'knows', features => '{age,town}', target => 'class')$$);
SELECT edges AS left_of_64 FROM gp_fit('g', kernel => 'gcn');
SELECT labels, classes, duplicates FROM gp_create_graph('directed', 'person', 'knows', target => 'age', directed => true);
SELECT labels, unlabelled_components FROM gp_create_graph('bare', 'person', 'knows');

-- Texts, ends that are NULL or no nodes, on one side and on both
CREATE VIEW texts AS SELECT 'p' || id AS id, class FROM person;
CREATE VIEW text_edges AS SELECT 'p' || src AS src, 'p' || dst AS dst FROM knows UNION ALL SELECT 'p1', x FROM (VALUES ('q'), (NULL)) v (x);
SELECT nodes, edges, edges_without_node FROM gp_create_graph('texts', 'texts', 'text_edges', target => 'class');
INSERT INTO knows VALUES (1, 1000), (2000, 2);
SELECT edges_without_node FROM gp_create_graph('unknown', 'person', 'knows');

-- Tables that cannot be read yet
CREATE TABLE twice AS SELECT 1 AS id FROM generate_series(1, 2);
SELECT * FROM gp_create_graph('twice', 'twice', 'knows');
CREATE TABLE none (id integer);
SET client_min_messages = error;
SELECT * FROM gp_create_graph('none', 'none', 'knows');
SET client_min_messages = warning;

-- Two sides: by foreign keys
CREATE TABLE product (id integer PRIMARY KEY);
INSERT INTO product SELECT generate_series(1, 8);
CREATE TABLE buys (person integer REFERENCES person, product integer REFERENCES product);
INSERT INTO buys SELECT i, i % 8 + 1 FROM generate_series(1, 30) i;
SELECT self_loops, edges_without_node FROM gp_create_graph('shop', 'person', 'buys', src => 'person', dst => 'product');
SELECT nodes FROM gp_create_graph('both', NULL, 'buys', src => 'person', dst => 'product');
-- without foreign keys by the name of a column; where nothing names the tables, how many ids are at both ends, unless these look like papers that cite papers
CREATE TABLE sales AS SELECT person AS person_id, product AS product_id FROM buys;
SELECT self_loops FROM gp_create_graph('sales', 'person', 'sales', src => 'person_id', dst => 'product_id');
CREATE TABLE pairs AS SELECT person AS buyer_id, product AS thing_id FROM buys;
SET client_min_messages = notice;
SELECT nodes FROM gp_create_graph('pairs', NULL, 'pairs', src => 'buyer_id', dst => 'thing_id');
ALTER TABLE pairs RENAME buyer_id TO citing;
ALTER TABLE pairs RENAME thing_id TO cited;
SELECT nodes FROM gp_create_graph('papers', NULL, 'pairs', src => 'citing', dst => 'cited');
SET client_min_messages = warning;
CREATE VIEW side AS SELECT 'c' || id AS id FROM person UNION ALL SELECT 'p' || id FROM product;
CREATE VIEW bought AS SELECT 'c' || person AS src, 'p' || product AS dst FROM buys;
SELECT nodes, edges FROM gp_create_graph('sides', 'side', 'bought');

-- Nodes from the edges
SELECT nodes = (SELECT count(*) FROM (SELECT src FROM knows UNION SELECT dst FROM knows) e) AS nodes FROM gp_create_graph('ends', nodes => NULL, edges => 'knows');
SELECT nodes, id, problem FROM gp_graphs WHERE graph = 'ends';
SELECT nodes = (SELECT count(*) FROM (SELECT src FROM knows UNION SELECT dst FROM knows) e) AS nodes, pairs > 0 AS pairs FROM gp_fit_links('ends');
SELECT count(DISTINCT cluster) FROM gp_cluster('ends', 3);
SELECT count(*) > 0 AS some FROM gp_columns('ends');
SELECT gp_alter_graph('ends', src => 'dst', dst => 'src');
SELECT id FROM gp_graphs WHERE graph = 'ends';
SELECT gp_create_graph('targets', NULL, 'knows', target => 'class');
CREATE TABLE mixed (src integer, dst bigint);
SELECT gp_create_graph('mixed', NULL, 'mixed');
-- A view that gives other rows each time it is read
CREATE SEQUENCE numbers;
CREATE VIEW shifting AS SELECT nextval('numbers') AS src, nextval('numbers') AS dst FROM generate_series(1, 3);
SELECT edges, edges_without_node FROM gp_create_graph('shifting', NULL, 'shifting');
-- One that drops the nodes once they are read
CREATE TABLE doomed AS SELECT 1 AS id;
CREATE FUNCTION drop_them() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DROP TABLE IF EXISTS counts.doomed'; RETURN 77; END $$;
CREATE VIEW dropping AS SELECT 1 AS src, drop_them() AS dst;
DO $$ BEGIN
    SET LOCAL client_min_messages = error;
    PERFORM gp_create_graph('doomed', 'doomed', 'dropping');
END $$;
SELECT count(*) FROM gp_graphs WHERE graph = 'doomed';
SELECT gp_alter_graph('ends', nodes => 'person', id => 'id', target => 'class');
SELECT graph, nodes, id FROM gp_graphs WHERE graph = 'ends';

-- Weights: as strength, as distance, at random.  Neighbours on a line are of one class, those of another line are not
CREATE TABLE walker AS SELECT i AS id, CASE WHEN i % 5 > 0 THEN CASE WHEN i > 150 THEN 'b' ELSE 'a' END END AS class FROM generate_series(1, 300) i;
CREATE TABLE path AS
SELECT i AS src, i + 1 AS dst, 5.0 AS near, 0.2 AS far FROM generate_series(1, 299) i
UNION ALL SELECT i, i * 7 % 300 + 1, 0.2, 5.0 FROM generate_series(1, 300) i;
SET client_min_messages = notice;
DO $$ BEGIN
    PERFORM gp_create_graph('near', 'walker', 'path', target => 'class', weight => 'near');
    PERFORM gp_create_graph('far', 'walker', 'path', target => 'class', weight => 'far');
    RAISE NOTICE 'near';
    PERFORM gp_fit('near', kernel => 'gcn');
    RAISE NOTICE 'far';
    PERFORM gp_fit('far', kernel => 'gcn', strategy => 'nystrom', landmarks => 20);
END $$;

-- A target that no fit takes by itself
ALTER TABLE walker ADD due date;
DO $$ BEGIN PERFORM gp_create_graph('due', 'walker', 'path', target => 'due'); END $$;

-- Edges that no fit takes
INSERT INTO path VALUES (1, 2, NULL, 1), (2, 3, NULL, 1);
DO $$ BEGIN PERFORM gp_create_graph('open', 'walker', 'path', target => 'class', weight => 'near'); END $$;

SET client_min_messages = error;
SELECT FROM gp_graphs, gp_drop_graph(graph);
DROP SCHEMA counts CASCADE;
