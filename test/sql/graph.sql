-- gp_create_graph and gp_drop_graph: what they store, and what they refuse
\set VERBOSITY terse
SET client_min_messages = warning;

\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_detail.sql'
\i :include
\pset format unaligned
\pset tuples_only on

CREATE TABLE papers (
    id integer PRIMARY KEY, embedding real[], wide double precision[], year integer,
    weight numeric, cost json, topic text, title text, abstract tsvector);
CREATE TABLE cites (citing integer, cited bigint, citing_text text, strength real, label text);
CREATE TABLE words (paper integer, word integer, n real, note text);
CREATE VIEW recent AS SELECT * FROM papers WHERE year > 2000;
CREATE MATERIALIZED VIEW old AS SELECT * FROM papers WHERE year <= 2000;
CREATE TABLE parts (id integer, x real[]) PARTITION BY RANGE (id);
CREATE SEQUENCE counter;
CREATE DOMAIN vec AS real[];
CREATE TABLE domains (id integer, v vec);

-- What is stored
SELECT gp_create_graph('citations', nodes => 'papers', edges => 'cites', features => '{embedding}',
                       target => 'topic', src => 'citing', dst => 'cited');
SELECT gp_create_graph('columns', 'recent', 'cites', features => '{year,weight}', target => 'topic',
                       src => 'citing', dst => 'cited', weight => 'strength', directed => true);
SELECT gp_create_graph('structure', nodes => 'o' || 'ld', edges => 'cites'::text, src => 'citing', dst => 'cited');
SELECT gp_create_graph('sparse', 'papers', 'cites', src => 'citing', dst => 'cited',
                       sparse_features => 'words');
SELECT gp_create_graph('partitioned', 'parts', 'cites', src => 'citing', dst => 'cited', features => '{x}');
SELECT gp_create_graph('domain', 'domains', 'cites', src => 'citing', dst => 'cited', features => '{v}');
SELECT gp_create_graph('one number', 'papers', 'cites', src => 'citing', dst => 'cited', features => '{year}');
SELECT gp_create_graph('double', 'papers', 'cites', src => 'citing', dst => 'cited', features => '{wide}');
SELECT gp_create_graph('Quoted.Name', 'papers', 'cites', src => 'citing', dst => 'cited');
\pset tuples_only off
SELECT graph, nodes, edges, id, features, target, src, dst, weight, directed, sparse_features
    FROM gp_graphs ORDER BY graph COLLATE "C";
\pset tuples_only on

-- A name can be taken once
SELECT try($$SELECT gp_create_graph('citations', 'papers', 'cites', src => 'citing', dst => 'cited')$$);
SELECT try($$SELECT gp_create_graph('twice', 'papers', 'cites', src => 'citing', dst => 'cited'),
                        gp_create_graph('twice', 'papers', 'cites', src => 'citing', dst => 'cited')$$);

-- Names
SELECT try($$SELECT gp_create_graph('', 'papers', 'cites', src => 'citing', dst => 'cited')$$);
SELECT try($$SELECT gp_create_graph(repeat('x', 64), 'papers', 'cites', src => 'citing', dst => 'cited')$$);
SELECT gp_create_graph(repeat('x', 63), 'papers', 'cites', src => 'citing', dst => 'cited');
SELECT gp_drop_graph(repeat('x', 63));

-- NULL arguments
SELECT try($$SELECT gp_create_graph(NULL, 'papers', 'cites')$$);
SELECT try($$SELECT gp_create_graph('g', NULL, 'cites')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', NULL)$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', id => NULL)$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => NULL)$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', dst => NULL)$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', directed => NULL)$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', features => '{embedding,NULL}')$$);
SELECT try($$SELECT gp_drop_graph(NULL)$$);

-- Relations that are no tables
SELECT try($$SELECT gp_create_graph('g', 'paper', 'cites')$$);
SELECT try($$SELECT gp_create_graph('g', 'counter', 'cites')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'papers_pkey')$$);
SELECT try($$SELECT gp_create_graph('g', 0::regclass, 'cites')$$);

-- Columns that are not there
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', id => 'ident', src => 'citing', dst => 'cited')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', id => 'ctid', src => 'citing', dst => 'cited')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'sited')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', target => 'topics')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', features => '{embeding}')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', weight => 'w')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', sparse_features => 'domains')$$);

-- Types that do not serve
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing_text', dst => 'cited')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', id => 'title', src => 'citing', dst => 'cited')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', weight => 'label')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', features => '{cost}')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', features => '{year,embedding}')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', sparse_features => 'cites')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', sparse_features => 'papers')$$);

-- Arguments that contradict each other
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', features => '{}')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', features => '{year,year}')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', features => '{year}', target => 'year')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'citing')$$);
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited', features => '{year}', sparse_features => 'words')$$);

-- A read-only transaction is refused at once
BEGIN READ ONLY;
SELECT try($$SELECT gp_create_graph('g', 'papers', 'cites', src => 'citing', dst => 'cited')$$);
SELECT try($$SELECT gp_drop_graph('citations')$$);
COMMIT;

-- Nothing of all this was stored
SELECT count(*) FROM gp_graphs;

-- Renaming a table does not matter, dropping it shows
ALTER TABLE words RENAME TO terms;
SELECT graph, nodes, edges, sparse_features FROM gp_graphs WHERE graph = 'sparse';
DROP TABLE terms;
DROP TABLE parts;
SELECT graph, nodes, edges, sparse_features FROM gp_graphs WHERE graph IN ('sparse', 'partitioned') ORDER BY graph;

-- What keeps a fit from reading shows as a problem
SELECT graph, problem FROM gp_graphs WHERE problem IS NOT NULL ORDER BY graph;
BEGIN;
ALTER TABLE papers RENAME year TO "Year";
ALTER TABLE cites DROP COLUMN cited;
SELECT graph, problem FROM gp_graphs WHERE problem IS NOT NULL ORDER BY graph COLLATE "C";
ROLLBACK;

-- Dropping
SELECT gp_drop_graph('sparse');
SELECT gp_drop_graph('Quoted.Name');
SELECT gp_drop_graph('partitioned'), gp_drop_graph('domain'), gp_drop_graph('one number'), gp_drop_graph('double');
SELECT gp_drop_graph(quote_ident(current_user) || '.structure');
SELECT gp_drop_graph('"' || current_user || '"."columns"');
SELECT try($$SELECT gp_drop_graph('columns')$$);
SELECT try($$SELECT gp_drop_graph('nobody.columns')$$);
SELECT try($$SELECT gp_drop_graph('"')$$);
SELECT try($$SELECT gp_drop_graph('a"b.c')$$);
SELECT try($$SELECT gp_drop_graph('."')$$);
SELECT graph FROM gp_graphs ORDER BY graph;
SELECT gp_drop_graph('citations');
DROP TABLE papers, cites, domains CASCADE;
DROP SEQUENCE counter;
DROP DOMAIN vec;
DROP FUNCTION try;
