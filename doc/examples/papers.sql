-- papers.sql - the topic of 3,000 papers from citations and a few known topics: \i papers.sql
--
-- Makes the schema example_papers, fits, predicts, explains.  At the end:
--   SELECT gp_drop_graph('example_papers'); DROP SCHEMA example_papers CASCADE;
\set ON_ERROR_STOP on
CREATE EXTENSION IF NOT EXISTS gnngp;
CREATE SCHEMA example_papers;
SET search_path = example_papers, public;
SELECT setseed(0.1) \g (format=unaligned tuples_only=on) /dev/null

-- Five topics; a paper has eight numbers that say a little of its topic, and one topic in ten is known.
CREATE TABLE papers AS
SELECT id, (ARRAY['biology', 'chemistry', 'history', 'mathematics', 'physics'])[1 + id % 5] AS truth,
       (SELECT array_agg(((k = id % 5)::integer + 1.5 * (random() + random() + random() - 1.5 + 0 * id))::real)
        FROM generate_series(0, 7) AS k) AS words
FROM generate_series(1, 3000) AS id;
ALTER TABLE papers ADD PRIMARY KEY (id), ADD COLUMN topic text;
UPDATE papers SET topic = truth WHERE random() < 0.1;

-- Each paper cites four others, three of them mostly of its own topic.
CREATE TABLE citations AS
SELECT DISTINCT id AS src,
       CASE WHEN k < 4 AND random() < 0.8 THEN 1 + (id + 5 * (random() * 599)::integer - 1) % 3000
            ELSE 1 + (random() * 2999)::integer END AS dst
FROM papers, generate_series(1, 4) AS k;
ALTER TABLE citations ADD PRIMARY KEY (src, dst);
CREATE INDEX ON citations (dst, src);
ANALYZE;

\echo 'Name the graph and fit it.'
SELECT * FROM gp_create_graph('example_papers', nodes => 'papers', edges => 'citations', features => '{words}', target => 'topic');
SELECT kernel, labelled, round(loo_score::numeric, 3) AS loo_score, round(seconds::numeric, 1) AS seconds
FROM gp_fit('example_papers', live => true);

\echo 'The likeliest topics of three papers, and how many of all are right.'
SELECT node, class, round(probability::numeric, 2) AS probability
FROM gp_predict('example_papers', ARRAY[1, 2, 3], top => 2);
SELECT count(*) AS hidden, round(avg((class = truth)::integer), 3) AS accuracy, round(avg(probability)::numeric, 3) AS said
FROM gp_predict('example_papers', unlabelled_only => true) JOIN papers ON id = node;

\echo 'Why paper 1?  The labels that made its score; then what to label next.'
SELECT labelled, class, round(share::numeric, 3) AS share FROM gp_explain('example_papers', 1, k => 4);
SELECT node, round(gain::numeric, 4) AS gain FROM gp_next_labels('example_papers', k => 3);
RESET search_path;
