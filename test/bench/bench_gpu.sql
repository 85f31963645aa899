-- bench_gpu.sql - gp_fit from the call to the stored model, on the GPU and on the CPU.
--
-- Runs in any database of a server that has gnngp and its GPU library installed:
--     psql -f test/bench/bench_gpu.sql
-- The last rows show what each took; the difference to bench_gpu's figures is the
-- reading of the tables, the start of the card and the storing.  Drops what it made.
\set ON_ERROR_STOP 1
CREATE EXTENSION IF NOT EXISTS gnngp;
SELECT device, name, compute_capability, driver, runtime, libraries, status FROM gp_device();

CREATE TABLE bench_gpu_node AS
SELECT i AS id, (SELECT array_agg(((i * 31 + k * k * 17 + i % 40 * k) % 101 / 101.0 - .5)::real)
                 FROM generate_series(0, 127) k) AS x,
       CASE WHEN i % 2 = 0 THEN 'c' || i % 40 END AS class
FROM generate_series(0, 169999) i;
CREATE TABLE bench_gpu_edge AS
SELECT floor(170000 * power(random(), 1.5))::integer AS src, floor(170000 * random())::integer AS dst
FROM generate_series(1, 1250000), (SELECT setseed(.5)) s;
ANALYZE bench_gpu_node, bench_gpu_edge;
SELECT gp_create_graph('bench_gpu', 'bench_gpu_node', 'bench_gpu_edge', features => '{x}', target => 'class');

\timing on
SET gnngp.device = 'cuda';
CREATE TEMP TABLE bench_gpu_run AS
SELECT 'first' AS run, f.* FROM gp_fit('bench_gpu', 'bench_gpu_card', strategy => 'nystrom', landmarks => 1800) f;
INSERT INTO bench_gpu_run
SELECT 'second', f.* FROM gp_fit('bench_gpu', 'bench_gpu_card', strategy => 'nystrom', landmarks => 1800) f;
SET gnngp.device = 'cpu';
INSERT INTO bench_gpu_run
SELECT 'cpu', f.* FROM gp_fit('bench_gpu', 'bench_gpu_host', strategy => 'nystrom', landmarks => 1800) f;
\timing off

SELECT run, device, nodes, edges, landmarks, round(seconds::numeric, 3) AS seconds, peak_bytes FROM bench_gpu_run;
SELECT max(abs(c.score - h.score)) AS largest_difference, max(abs(h.score)) AS largest_score
FROM gp_predict('bench_gpu_card', top => NULL) c JOIN gp_predict('bench_gpu_host', top => NULL) h USING (node, class);
SELECT gp_drop_graph('bench_gpu');
DROP TABLE bench_gpu_node, bench_gpu_edge;
