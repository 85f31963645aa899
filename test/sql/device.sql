-- Where computations run, on a machine without the GPU library; test/t/008_gpu.pl has one
\set VERBOSITY default
\pset format unaligned
\pset tuples_only on
SELECT bool_or(status = 'the GPU library is not installed') AS without_library FROM gp_device() \gset
\if :without_library
\else
\echo the GPU library is installed
\quit
\endif
SELECT device, name LIKE 'OpenBLAS %' AS named, memory > 0 AS memory, compute_capability, driver, runtime, libraries, status
FROM gp_device();
SET gnngp.memory_limit = '100MB';
SELECT memory FROM gp_device() WHERE device = 'cpu';
RESET gnngp.memory_limit;

CREATE TABLE n AS SELECT i AS id, ARRAY[i % 3, i % 5]::real[] AS x, CASE WHEN i % 4 > 0 THEN i % 2 END AS y
FROM generate_series(1, 400) AS i;
CREATE TABLE e AS SELECT i AS src, (i * j * 7 + j) % 400 + 1 AS dst FROM generate_series(1, 400) AS i, generate_series(1, 2) AS j;
SELECT gp_create_graph('g', 'n', 'e', features => '{x}', target => 'y');

-- auto goes to the CPU, and says nothing, even where a GPU that starts in no time would be worth it
SET gnngp.threads = 1;
SET gnngp.gpu_start_cost = 0;
SELECT flops / 3e10 > flops / 4e12 + bytes / 5e9 AS worth FROM gp_estimate('g');
SELECT device FROM gp_fit('g', nugget => 1);
SELECT count(*) FROM gp_tune('g', ARRAY['gcn']::gp_kernel[]);
CALL gp_refresh('g');
SELECT device FROM gp_models;
RESET gnngp.gpu_start_cost;
RESET gnngp.threads;

-- cuda is an error wherever something is computed, and nothing else
SET gnngp.device = 'cuda';
SELECT gp_fit('g');
SELECT gp_fit_links('g');
SELECT gp_tune('g');
SELECT gp_estimate('g');
SELECT gp_cluster('g', 2);
SELECT gp_factor(src, dst, 'gcn') FROM e;
CALL gp_refresh('g');
SELECT count(*) FROM gp_predict('g');
SELECT outcome, message FROM gp_refreshes ORDER BY started;
SET gnngp.device = 'cpu';
SELECT device FROM gp_fit('g', nugget => 1);
SELECT gp_drop_graph('g');
DROP TABLE n, e;
RESET gnngp.device;

-- the settings of a GPU
\set VERBOSITY sqlstate
SET gnngp.gpu = -1;
SET gnngp.gpu_memory_limit = -1;
SET gnngp.gpu_start_cost = -0.1;
SET gnngp.tf32 = 'perhaps';
\set VERBOSITY default
SET gnngp.gpu_memory_limit = '2GB';
SHOW gnngp.gpu_memory_limit;
SET gnngp.gpu_start_cost = '20ms';
SHOW gnngp.gpu_start_cost;
SET gnngp.tf32 = on;
CREATE ROLE gnngp_user;
SET ROLE gnngp_user;
SET gnngp.gpu_memory_limit = '64GB';
SET gnngp.gpu = 1;
SET gnngp.tf32 = off;
SELECT count(*) FROM gp_device();
RESET ROLE;
DROP ROLE gnngp_user;
