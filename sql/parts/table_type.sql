-- The type of a model's own tables in the table of models.
--
-- A value is a table's oid, as a regclass is, so that one that is renamed stays the model's.  Its text is the
-- table's name, and never a number: what a dump says of a table that it leaves out, or that
-- is gone, names none when it is restored, and no other one.

CREATE TYPE gnngp_internal.gp_table;

CREATE FUNCTION gnngp_internal.gp_table_in(cstring) RETURNS gnngp_internal.gp_table
AS 'MODULE_PATHNAME', 'gnngp_table_in' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_table_in(cstring) IS
    'the table of a name with its schema; none where there is none';

CREATE FUNCTION gnngp_internal.gp_table_out(gnngp_internal.gp_table) RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_table_out' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_table_out(gnngp_internal.gp_table) IS
    'the name of a table with its schema, or - for none';

CREATE TYPE gnngp_internal.gp_table (
    INPUT = gnngp_internal.gp_table_in,
    OUTPUT = gnngp_internal.gp_table_out,
    LIKE = pg_catalog.oid
);
COMMENT ON TYPE gnngp_internal.gp_table IS
    'table that belongs to a model: its oid, shown as its name';

CREATE CAST (gnngp_internal.gp_table AS pg_catalog.regclass) WITHOUT FUNCTION;
COMMENT ON CAST (gnngp_internal.gp_table AS pg_catalog.regclass) IS 'the table';

CREATE CAST (pg_catalog.regclass AS gnngp_internal.gp_table) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (pg_catalog.regclass AS gnngp_internal.gp_table) IS 'the same table';

