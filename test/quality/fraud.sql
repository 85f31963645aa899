-- Accounts of which few are fraudulent, and their transfers: the average precision on the accounts whose label is not
-- known.  Variables: seed; edge_features, such as '{amount,at}', or '{}'.
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS fraud_quality CASCADE;
CREATE SCHEMA fraud_quality;
SET search_path = fraud_quality, public;
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE graph = 'fraud_quality';
-- Uniform between 0 and 1, by a number and a purpose
CREATE FUNCTION draw(i bigint, what text) RETURNS float8 LANGUAGE sql IMMUTABLE AS
    'SELECT ((hashint8extended(i, 0) # hashtextextended(what, 0)) % 1000003 + 1000003) % 1000003 / 1000003.0';
CREATE TABLE accounts AS
SELECT i AS id, draw(i, 'fraud' || :seed) < 0.06 AS fraud, draw(i, 'test' || :seed) < 0.5 AS test,
    floor(ln(1 - draw(i, 'age' || :seed)) * -900) AS age_days, (ARRAY['shop','private','company'])[1 + floor(draw(i, 'kind' || :seed) * 3)::integer] AS kind
FROM generate_series(1, 4000) AS i;
-- Young accounts are more often fraudulent, and fraudulent ones pass money on to each other, soon and in larger sums
UPDATE accounts SET age_days = floor(age_days * 0.35) WHERE fraud;
CREATE TABLE frauds AS SELECT id, row_number() OVER (ORDER BY id) AS place, count(*) OVER () AS n FROM accounts WHERE fraud;
CREATE TABLE transfers AS
SELECT a.id AS src,
    CASE WHEN a.fraud AND draw(a.id * 100 + k, 'ring' || :seed) < 0.35
         THEN (SELECT f.id FROM frauds AS f WHERE f.place = 1 + floor(draw(a.id * 100 + k, 'to' || :seed) * f.n))
         ELSE 1 + floor(draw(a.id * 100 + k, 'to' || :seed) * 4000)::bigint END AS dst,
    round((exp(4 + (CASE WHEN a.fraud THEN 0.8 ELSE 0 END) * draw(a.id * 100 + k, 'large' || :seed)
               + (draw(a.id * 100 + k, 'a' || :seed) + draw(a.id * 100 + k, 'b' || :seed) + draw(a.id * 100 + k, 'c' || :seed) - 1.5) * 1.6))::numeric, 2) AS amount,
    timestamptz '2026-01-01' - interval '1 day' * 365 * power(draw(a.id * 100 + k, 'at' || :seed), CASE WHEN a.fraud THEN 1.5 ELSE 1 END) AS at
FROM accounts AS a, generate_series(1, 12) AS k
WHERE draw(a.id * 100 + k, 'there' || :seed) < CASE WHEN a.fraud THEN 0.7 ELSE 0.45 END;
CREATE VIEW known AS SELECT id, age_days, kind, CASE WHEN NOT test THEN fraud END AS fraud FROM accounts;
SELECT gp_create_graph('fraud_quality', 'known', 'transfers', features => '{age_days,kind}', target => 'fraud', directed => true,
    edge_features => :'edge_features');
SELECT seconds FROM gp_fit('fraud_quality', kernel => 'sage2', strategy => 'nystrom', landmarks => 400);
WITH told AS (SELECT fraud, row_number() OVER (ORDER BY g.probability DESC, id) AS place
              FROM gp_predict('fraud_quality', top => NULL) AS g JOIN accounts ON id = g.node WHERE g.class = 'true' AND test),
found AS (SELECT place, row_number() OVER (ORDER BY place) AS hits FROM told WHERE fraud)
SELECT round(avg(hits / place::float8)::numeric, 4) FROM found;
