\echo Use "CREATE EXTENSION gnngp" to load this file. \quit

-- Operators are looked for by their types: one that somebody made in this schema
-- before must not get into a view or a policy.
SET LOCAL search_path TO pg_catalog, pg_temp;

-- Users call what is in the schema of the extension.  Tables, states of aggregates
-- and everything else that serves these functions is in a schema of its own.
-- Views, dumps and aggregates of all roles need it.
CREATE SCHEMA gnngp_internal;
COMMENT ON SCHEMA gnngp_internal IS 'tables and helpers of the extension gnngp; not for use in queries';
GRANT USAGE ON SCHEMA gnngp_internal TO PUBLIC;
