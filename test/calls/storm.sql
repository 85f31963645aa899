-- Beside the stage: a graph whose fits take long enough to be ended in each of their phases.
SET search_path = stage, public, "odd gp";
SET SESSION AUTHORIZATION calls_ann;
CREATE TABLE n_wide AS
    SELECT i::bigint AS id, (SELECT array_agg(sin(i * k * 0.37)::real + 1) FROM generate_series(1, 16) k) AS x, CASE WHEN i % 2 = 0 THEN i % 5 END AS z
    FROM generate_series(1, 3000) i;
CREATE TABLE e_wide AS
    SELECT i::bigint AS src, ((i * j * 31 + 7 * j) % 3000 + 1)::bigint AS dst, j::float8 AS w FROM generate_series(1, 3000) i, generate_series(1, 5) j;
SELECT gp_create_graph('wide', 'n_wide', 'e_wide', features => '{x}', target => 'z');
SELECT gp_fit('wide', strategy => 'nystrom', landmarks => 200);
SELECT gp_fit('wide', 'wide2', strategy => 'nystrom', landmarks => 150);
