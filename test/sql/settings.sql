-- The settings with the prefix gnngp
\set VERBOSITY default
\pset format unaligned
\pset tuples_only on
LOAD 'gnngp';
SELECT name, setting, unit, context, vartype, min_val FROM pg_settings WHERE name LIKE 'gnngp.%' ORDER BY name;
SHOW gnngp.device;
SET gnngp.device = 'CPU';
SET gnngp.device = 'gpu';
SHOW gnngp.device;
RESET gnngp.device;
SET gnngp.threads = 3;
\set VERBOSITY sqlstate
SET gnngp.threads = -1;
\set VERBOSITY default
RESET gnngp.threads;
SET gnngp.memory_limit = '1GB';
SHOW gnngp.memory_limit;
SET gnngp.memory_limit = '1500kB';
SHOW gnngp.memory_limit;
\set VERBOSITY sqlstate
SET gnngp.memory_limit = -1;
SET gnngp.memory_limit = '1023kB';
SET gnngp.memory_limit = '1MB';
SELECT 'gcn'::gp_kernel;
SET gnngp.memory_limit = 0;
\set VERBOSITY default
RESET gnngp.memory_limit;
-- A misspelt name is refused
SET gnngp.thread = 1;
-- The limits of memory and of threads are the administrator's
SET gnngp.max_threads = 4;
SHOW gnngp.max_threads;
\set VERBOSITY sqlstate
SET gnngp.max_threads = -1;
SET gnngp.max_threads = 1025;
\set VERBOSITY default
RESET gnngp.max_threads;
CREATE ROLE gnngp_user;
SET ROLE gnngp_user;
SET gnngp.memory_limit = '64GB';
SET gnngp.max_threads = 64;
ALTER ROLE gnngp_user SET gnngp.max_threads = 64;
-- More threads than the limit have no effect, as with the server's own limits of workers
SET gnngp.threads = 1024;
SET gnngp.threads = 2;
SET gnngp.device = 'auto';
RESET ROLE;
DROP ROLE gnngp_user;

-- What was set before the library was loaded is refused when it is used
\c -
SET gnngp.device = 'gpu';
CREATE TABLE n (id integer);
CREATE TABLE e (src integer, dst integer);
CREATE VIEW labelled AS SELECT i AS id, i % 2 AS y FROM generate_series(1, 10) i;
SELECT gp_create_graph('g', 'labelled', 'e', target => 'y');
SHOW gnngp.device;
SELECT gp_fit('g');
SET gnngp.device = 'cpu';
SELECT nodes, device FROM gp_fit('g', nugget => 1);
SELECT gp_drop_graph('g');
DROP TABLE n, e;
DROP VIEW labelled;
