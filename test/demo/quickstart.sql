CREATE EXTENSION IF NOT EXISTS gnngp;

SELECT nodes, labels, edges, edges_without_node, unlabelled_components
FROM gp_create_graph('packages', nodes => 'packages', edges => 'depends',
                     target => 'section', sparse_features => 'package_words');

SELECT * FROM gp_fit('packages', kernel => 'gcn');
-- In another session, while it runs: SELECT model, phase, seconds_left FROM gp_progress \watch 2

SELECT p.name, g.class AS section, round(g.probability::numeric, 2) AS probability
FROM gp_predict('packages', unlabelled_only => true) AS g
    JOIN packages AS p ON p.id = g.node
WHERE p.name IN ('gimp', 'nginx', 'vim', 'stellarium', 'r-base', 'wireshark')
ORDER BY probability DESC;
