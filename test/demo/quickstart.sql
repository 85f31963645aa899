CREATE EXTENSION IF NOT EXISTS gnngp;

SELECT gp_create_graph('packages', nodes => 'packages', edges => 'depends',
                       target => 'section', sparse_features => 'package_words');

SELECT * FROM gp_fit('packages', kernel => 'gcn');

SELECT p.name, g.class AS section, round(g.probability::numeric, 2) AS probability
FROM gp_predict('packages', unlabelled_only => true) AS g
    JOIN packages AS p ON p.id = g.node
WHERE p.name IN ('gimp', 'nginx', 'vim', 'stellarium', 'r-base', 'wireshark')
ORDER BY probability DESC;
