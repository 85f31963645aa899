-- The settings with the prefix gnngp
\set VERBOSITY default
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
\set VERBOSITY default
RESET gnngp.memory_limit;
-- A misspelt name is refused
SET gnngp.thread = 1;
-- The memory limit is the administrator's
CREATE ROLE gnngp_user;
SET ROLE gnngp_user;
SET gnngp.memory_limit = '64GB';
SET gnngp.threads = 2;
SET gnngp.device = 'auto';
RESET ROLE;
DROP ROLE gnngp_user;
