\echo Use "CREATE EXTENSION gnngp" to load this file. \quit

-- Operators are looked for by their types: one that somebody made in this schema
-- before must not get into a view or a policy.
SET LOCAL search_path TO pg_catalog, pg_temp;

