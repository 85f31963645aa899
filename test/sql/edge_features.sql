-- Columns of the edges as features of the nodes at both ends
SET client_min_messages = warning;
CREATE SCHEMA edge_test;
SET search_path = edge_test, public;
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_hint.sql'
\i :include
CREATE FUNCTION draw(i bigint, n bigint) RETURNS bigint LANGUAGE sql AS 'SELECT (hashint8extended(i, 7) & 1048575) % n';
CREATE TABLE accounts (id integer PRIMARY KEY, age real, big boolean, spent real);
CREATE TABLE transfers (src integer, dst integer, amount numeric, at timestamptz, refund boolean, note text);
INSERT INTO accounts SELECT i, draw(i, 50), i % 4 = 0 FROM generate_series(1, 400) i;
-- What tells an account is how large its transfers are, not where they go
INSERT INTO transfers SELECT 1 + draw(i * 3, 400), 1 + draw(i * 5, 400), 0, '2026-01-01'::timestamptz + draw(i, 1000) * interval '1 hour', draw(i, 9) = 0
FROM generate_series(1, 3000) i;
UPDATE transfers SET amount = CASE WHEN src % 4 = 0 THEN 50 ELSE 10 END + draw(src * 1000 + dst, 60) - 20;
-- NULL, NaN, no transfer at all, a transfer to oneself, one that comes twice
UPDATE transfers SET amount = NULL, at = 'infinity' WHERE src = 5;
UPDATE transfers SET amount = 'NaN' WHERE src = 6;
DELETE FROM transfers WHERE src = 7 OR dst = 7;
INSERT INTO transfers VALUES (9, 9, 1, '2026-01-01', true), (9, 10, 3, NULL, NULL), (9, 10, 3, NULL, NULL);
UPDATE accounts SET spent = (SELECT coalesce(sum(amount), 0) FROM transfers WHERE src = id AND amount <> 'NaN');
RESET client_min_messages;
\pset format unaligned
\pset tuples_only on
SELECT FROM gp_create_graph('bank', 'accounts', 'transfers', features => '{age}', target => 'big', directed => true);
SELECT features, loo_score < 0.1 AS untold FROM gp_fit('bank', kernel => 'mlp');
SELECT gp_alter_graph('bank', edge_features => '{amount,at,refund}');
SELECT features, loo_score > 0.3 AS told FROM gp_fit('bank', kernel => 'mlp');
SELECT edge_features, problem FROM gp_graphs WHERE graph = 'bank';
SELECT * FROM gp_columns('bank');
CREATE TEMP TABLE before AS SELECT * FROM gp_loo('bank');
-- The order of edges is the same to it
CREATE TEMP TABLE again AS SELECT * FROM transfers ORDER BY amount DESC, at;
TRUNCATE transfers;
INSERT INTO transfers SELECT * FROM again;
CALL gp_refresh('bank');
SELECT count(*) FROM before AS b JOIN gp_loo('bank') AS l USING (node) WHERE l.score <> b.score;
-- Without columns of the nodes; an undirected graph has one side; values
SELECT FROM gp_create_graph('sums', 'accounts', 'transfers', target => 'spent', directed => true, edge_features => '{amount}');
SELECT features, loo_score > 0.9 AS well FROM gp_fit('sums', kernel => 'mlp');
SELECT gp_alter_graph('sums', directed => false);
SELECT features FROM gp_fit('sums', kernel => 'mlp');
SELECT gp_alter_graph('sums', edge_features => '{}');
SELECT edge_features IS NULL FROM gp_graphs WHERE graph = 'sums';
-- What serves, and where
SELECT try($$SELECT gp_alter_graph('bank', edge_features => '{amont}')$$);
SELECT try($$SELECT gp_alter_graph('bank', edge_features => '{note}')$$);
SELECT try($$SELECT gp_alter_graph('bank', edge_features => '{amount,amount}')$$);
SELECT try($$SELECT gp_alter_graph('bank', edge_features => '{src}')$$);
SELECT try($$SELECT gp_fit('bank', live => true)$$);
SELECT try($$SELECT gp_fit('bank', kernel => 'gcn', strategy => 'sql')$$);
SELECT try($$SELECT gp_fit_links('bank')$$);
SELECT try($$SELECT * FROM gp_predict_live('bank', 1)$$);
-- Who may not read a column of the edges makes no graph of it
SET client_min_messages = warning;
CREATE ROLE edge_clerk;
GRANT USAGE, CREATE ON SCHEMA edge_test TO edge_clerk;
GRANT SELECT ON accounts TO edge_clerk;
GRANT SELECT (src, dst, at) ON transfers TO edge_clerk;
RESET client_min_messages;
SET ROLE edge_clerk;
SELECT try($$SELECT gp_create_graph('clerks', 'accounts', 'transfers', target => 'big', edge_features => '{amount}')$$);
SELECT FROM gp_create_graph('clerks', 'accounts', 'transfers', target => 'big', edge_features => '{at}');
SELECT features > 0 FROM gp_fit('clerks', kernel => 'mlp');
RESET ROLE;
REVOKE SELECT (at) ON transfers FROM edge_clerk;
SET ROLE edge_clerk;
SELECT try($$SELECT gp_fit('clerks', kernel => 'mlp')$$);
SELECT gp_drop_graph('clerks');
RESET ROLE;
ALTER TABLE transfers DROP COLUMN refund;
SELECT problem FROM gp_graphs WHERE graph = 'bank';
SELECT try($$SELECT gp_fit('bank', kernel => 'mlp')$$);
SELECT gp_drop_graph('bank'), gp_drop_graph('sums');
SET client_min_messages = warning;
DROP SCHEMA edge_test CASCADE;
DROP ROLE edge_clerk;
