-- Topics of papers by their authors and subjects, tables without time, 80% of the labels known: the share told right
-- of the others.  Variables: seed of the split.
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS acm_quality CASCADE;
CREATE SCHEMA acm_quality;
SET search_path = acm_quality, public;
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE graph = 'acm_quality';
CREATE VIEW known AS SELECT id, topic AS truth, rank() OVER (PARTITION BY topic ORDER BY hashint4extended(id, :seed))
    <= 0.8 * count(*) OVER (PARTITION BY topic) AS known FROM acm.papers;
CREATE VIEW papers AS SELECT id, CASE WHEN known THEN truth END AS topic FROM known;
SELECT gp_create_graph('acm_quality', tables => '{papers,acm.authors,acm.subjects,acm.writes,acm.about}',
    keys => '{"writes.paper": "papers.id", "about.paper": "papers.id"}');
SELECT gp_create_task('acm_task', 'acm_quality', 'papers.topic');
SELECT seconds FROM gp_fit('acm_task');
SELECT avg((class = truth::text)::integer) FROM gp_predict('acm_task') JOIN known ON id = node;
