-- Columns of any type as features: how they are encoded, what is left out, and live answers by the same encoding
SET client_min_messages = warning;
CREATE SCHEMA encode_columns;
SET search_path = encode_columns, public;
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE TABLE people (id integer PRIMARY KEY, name text, age integer, income numeric, city text, joined date,
    seen timestamptz, active boolean, c colour, extra json, y text,
    host inet, price money, made text, place serial);
INSERT INTO people SELECT i, 'name ' || i, CASE WHEN i % 7 > 0 THEN 20 + i % 50 END, CASE WHEN i % 5 > 0 THEN i % 13 END,
    (ARRAY['Ulm', 'Bonn', 'Kiel'])[1 + i % 3], date '2020-01-01' + i % 900, timestamptz '2020-01-01 00:00+00' + i * interval '1 hour',
    CASE WHEN i % 4 > 0 THEN i % 2 = 0 END, (ARRAY['red', 'green', 'blue'])[1 + i % 3]::colour, NULL,
    CASE WHEN i % 2 = 0 THEN CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END END,
    ('10.0.0.' || i % 3)::inet, (i % 11)::numeric::money,
    -- Made for one hash without a secret
    (ARRAY['colourA of blood', 'a0071627U YORHOg'])[1 + i % 2] FROM generate_series(1, 600) i;
CREATE TABLE e (src integer REFERENCES people, dst integer REFERENCES people);
INSERT INTO e SELECT i, 1 + (i * 7) % 600 FROM generate_series(1, 600) i;
CREATE INDEX ON e (src);
CREATE INDEX ON e (dst);
RESET client_min_messages;
\pset format unaligned
\pset tuples_only on

-- All columns that can be features
SELECT gp_create_graph('p', 'people', 'e', features => '{*}', target => 'y');
SELECT features FROM gp_graphs WHERE graph = 'p';
SELECT features, loo_score > 0.9 AS well FROM gp_fit('p', kernel => 'mlp', live => true);
SET client_min_messages = warning;
SELECT col, encoding, columns, note FROM gp_columns('p');
RESET client_min_messages;
-- Live answers are the stored ones, until a row changes
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM gp_predict('p') AS s JOIN gp_predict_live('p', ARRAY(SELECT id FROM people)) AS l USING (node)
    WHERE s.class <> l.class OR abs(s.probability - l.probability) > 1e-3
$$;
SELECT differences();
UPDATE people SET city = 'nowhere', c = 'red', age = NULL, income = 1e9 WHERE id = 1;
SELECT class FROM gp_predict_live('p', ARRAY[1]);
-- Numbers, NULL among them; a row of a fit without NULL cannot have one
SELECT gp_alter_graph('p', features => '{age,income}');
SELECT features FROM gp_fit('p', kernel => 'mlp', nugget => 1);
UPDATE people SET age = 1, income = 1 WHERE age IS NULL OR income IS NULL;
SELECT features FROM gp_fit('p', kernel => 'mlp', nugget => 1, live => true);
UPDATE people SET age = NULL WHERE id = 2;
SELECT class FROM gp_predict_live('p', ARRAY[2]);
-- One column of words; a name; what is neither
SELECT gp_alter_graph('p', features => '{city}');
SELECT features FROM gp_fit('p', kernel => 'mlp', nugget => 1);
SELECT features FROM gp_fit('p', kernel => 'mlp', nugget => 1, strategy => 'sql');
SELECT gp_alter_graph('p', features => '{name}');
SELECT features FROM gp_fit('p', kernel => 'mlp', nugget => 1);
SELECT gp_alter_graph('p', features => '{extra}');
SELECT gp_create_graph('q', 'e', 'e', id => 'src', features => '{*}');
-- All columns that he may read
CREATE ROLE encode_reader;
GRANT USAGE ON SCHEMA encode_columns TO encode_reader;
GRANT SELECT (id, age, extra) ON people TO encode_reader;
GRANT SELECT ON e TO encode_reader;
SET ROLE encode_reader;
SELECT gp_create_graph('r', 'people', 'e', features => '{*}');
SELECT gp_drop_graph('r');
RESET ROLE;
DROP OWNED BY encode_reader;
DROP ROLE encode_reader;

SET client_min_messages = warning;
SELECT gp_drop_graph('p');
DROP SCHEMA encode_columns CASCADE;
