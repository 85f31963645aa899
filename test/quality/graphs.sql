-- graphs.sql - each data set as a graph whose target is NULL outside the
-- training nodes of its default split.

CREATE VIEW cora AS
    SELECT id, features, CASE WHEN split = 'train' THEN label END AS target FROM cora_nodes;
CREATE VIEW dblp AS
    SELECT id, CASE WHEN split = 'train' THEN label END AS target FROM dblp_nodes;
CREATE VIEW chameleon AS
    SELECT id, CASE WHEN split = 'train' THEN target END AS target FROM chameleon_nodes;

-- One takes its features from arrays, the others from sparse tables.
SELECT gp_create_graph('cora', nodes => 'cora', edges => 'cora_edges', target => 'target',
                       features => '{features}'),
       gp_create_graph('dblp', nodes => 'dblp', edges => 'dblp_edges', target => 'target',
                       sparse_features => 'dblp_features'),
       gp_create_graph('chameleon', nodes => 'chameleon', edges => 'chameleon_edges',
                       target => 'target', sparse_features => 'chameleon_features')
\g /dev/null

-- What links are learnt from, filled by links.sql.
CREATE TABLE link_train (src integer, dst integer);
SELECT gp_create_graph('links_usair', nodes => 'usair_nodes', edges => 'link_train'),
       gp_create_graph('links_yeast', nodes => 'yeast_nodes', edges => 'link_train'),
       gp_create_graph('links_cora', nodes => 'cora_nodes', edges => 'link_train',
                       sparse_features => 'cora_features')
\g /dev/null

-- So many labels of each class, drawn by a number; sets.sql writes both.
CREATE TABLE few_draw AS SELECT 0 AS seed, 20 AS per;
CREATE VIEW cora_few AS
    SELECT id, features, CASE WHEN place <= per THEN label END AS target
    FROM (SELECT n.id, n.features, n.label, d.per,
                 row_number() OVER (PARTITION BY n.label ORDER BY hashint4extended(n.id, d.seed)) AS place
          FROM cora_nodes AS n, few_draw AS d) AS drawn;
CREATE VIEW dblp_few AS
    SELECT id, CASE WHEN place <= per THEN label END AS target
    FROM (SELECT n.id, n.label, d.per,
                 row_number() OVER (PARTITION BY n.label ORDER BY hashint4extended(n.id, d.seed)) AS place
          FROM dblp_nodes AS n, few_draw AS d) AS drawn;
SELECT gp_create_graph('cora_few', nodes => 'cora_few', edges => 'cora_edges', target => 'target',
                       features => '{features}'),
       gp_create_graph('dblp_few', nodes => 'dblp_few', edges => 'dblp_edges', target => 'target',
                       sparse_features => 'dblp_features')
\g /dev/null

-- The same with the labels of nodes that were asked about; next_labels.sql fills the table.
CREATE TABLE asked (node integer);
CREATE VIEW cora_asked AS
    SELECT f.id, f.features, CASE WHEN a.node IS NULL THEN f.target ELSE n.label END AS target
    FROM cora_few AS f JOIN cora_nodes AS n USING (id) LEFT JOIN asked AS a ON a.node = f.id;
CREATE VIEW dblp_asked AS
    SELECT f.id, CASE WHEN a.node IS NULL THEN f.target ELSE n.label END AS target
    FROM dblp_few AS f JOIN dblp_nodes AS n USING (id) LEFT JOIN asked AS a ON a.node = f.id;
SELECT gp_create_graph('cora_asked', nodes => 'cora_asked', edges => 'cora_edges', target => 'target',
                       features => '{features}'),
       gp_create_graph('dblp_asked', nodes => 'dblp_asked', edges => 'dblp_edges', target => 'target',
                       sparse_features => 'dblp_features')
\g /dev/null

-- What a method learns from and is judged by: the default split, or the few labels of each class that
-- the data sets come with.
CREATE VIEW cora_test AS SELECT id, label AS class FROM cora_nodes WHERE split = 'test';
CREATE VIEW dblp_test AS SELECT id, label AS class FROM dblp_nodes WHERE split = 'test';
CREATE VIEW cora_split AS
    SELECT n.id, n.label AS class, s.role, CASE WHEN s.role = 'train' THEN n.label END AS target
    FROM cora_nodes AS n LEFT JOIN cora_splits AS s ON s.node_id = n.id AND s.split_no = 'gckm_fewlabels';
CREATE VIEW chameleon_split AS
    SELECT n.id, n.class5 AS class, s.role, CASE WHEN s.role = 'train' THEN n.class5 END AS target
    FROM chameleon_nodes AS n LEFT JOIN chameleon_splits AS s ON s.node_id = n.id AND s.split_no = 'gckm_fewlabels';
CREATE VIEW cora_split_test AS SELECT id, class FROM cora_split WHERE role = 'test';
CREATE VIEW chameleon_split_test AS SELECT id, class FROM chameleon_split WHERE role = 'test';
SELECT gp_create_graph('cora_split', nodes => 'cora_split', edges => 'cora_edges', target => 'target',
                       sparse_features => 'cora_features'),
       gp_create_graph('chameleon_split', nodes => 'chameleon_split', edges => 'chameleon_edges',
                       target => 'target', sparse_features => 'chameleon_features')
\g /dev/null
