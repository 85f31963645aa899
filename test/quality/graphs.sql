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
