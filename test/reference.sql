-- reference.sql - every function, view, type and setting of the extension, one
-- line each, in the notation of doc/reference.md.

LOAD 'gnngp';

WITH members AS (
    SELECT classid, objid FROM pg_depend
    WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gnngp')
), functions AS (
    SELECT p.*,
           -- schemas and the casts of defaults are of no interest
           regexp_replace(replace(pg_get_function_arguments(p.oid), 'gnngp_internal.', ''), '::[a-z_ ]+(\[\])?', '', 'g') AS args,
           pg_get_function_result(p.oid) AS result
    FROM pg_proc p JOIN members m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
    WHERE p.pronamespace <> 'gnngp_internal'::regnamespace
    -- of the forms of a function on nodes the first, and those that do not begin with nodes
      AND p.proargtypes[1] IS DISTINCT FROM 'int2'::regtype
      AND (p.proargtypes[1] IN ('int4'::regtype, 'gnngp_internal.gp_node_list'::regtype)
           OR NOT EXISTS (SELECT FROM pg_proc f WHERE f.proname = p.proname AND f.pronamespace = p.pronamespace
                          AND f.proargtypes[1] = 'gnngp_internal.gp_integers'::regtype))
), lines AS (
    SELECT CASE prokind WHEN 'p' THEN 'CALL ' WHEN 'a' THEN 'aggregate ' ELSE '' END
        || proname || '(' || regexp_replace(regexp_replace(args, '(, )?OUT .*$', ''), '^IN ', '') || ')'
        || CASE WHEN prokind = 'p' THEN ''
                WHEN args LIKE '%OUT %' THEN ' RETURNS ' || CASE WHEN proretset THEN 'SETOF ' ELSE '' END
                    || '(' || replace(substring(args FROM '(OUT .*)$'), 'OUT ', '') || ')'
                ELSE ' RETURNS ' || result END
        || CASE WHEN prokind IN ('p', 'a') THEN ''
                ELSE CASE provolatile WHEN 'i' THEN ' IMMUTABLE' WHEN 's' THEN ' STABLE' ELSE ' VOLATILE' END
                    || CASE WHEN proisstrict THEN ' STRICT' ELSE '' END
                    || CASE proparallel WHEN 's' THEN ' PARALLEL SAFE' WHEN 'r' THEN ' PARALLEL RESTRICTED'
                            ELSE ' PARALLEL UNSAFE' END END AS line
    FROM functions
    UNION ALL
    SELECT 'VIEW ' || c.relname || ' (' ||
           (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
            FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) || ')'
    FROM pg_class c JOIN members m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid
    WHERE c.relkind = 'v' AND c.relnamespace <> 'gnngp_internal'::regnamespace
    UNION ALL
    SELECT 'TYPE ' || t.typname
    FROM pg_type t JOIN members m ON m.classid = 'pg_type'::regclass AND m.objid = t.oid
    WHERE t.typtype = 'b' AND t.typelem = 0 AND t.typnamespace <> 'gnngp_internal'::regnamespace
    UNION ALL
    SELECT 'CAST (' || format_type(castsource, NULL) || ' AS ' || format_type(casttarget, NULL) || ') '
        || CASE castcontext WHEN 'i' THEN 'IMPLICIT' WHEN 'a' THEN 'ASSIGNMENT' ELSE 'EXPLICIT' END
    FROM pg_cast c JOIN members m ON m.classid = 'pg_cast'::regclass AND m.objid = c.oid
    WHERE NOT EXISTS (SELECT FROM pg_type WHERE oid IN (c.castsource, c.casttarget) AND typnamespace = 'gnngp_internal'::regnamespace)
    UNION ALL
    SELECT 'OPERATOR ' || format_type(oprleft, NULL) || ' ' || oprname || ' ' || format_type(oprright, NULL)
    FROM pg_operator o JOIN members m ON m.classid = 'pg_operator'::regclass AND m.objid = o.oid
    UNION ALL
    SELECT 'SETTING ' || name || ' = ' || quote_literal(boot_val) || ', '
        || CASE context WHEN 'user' THEN 'anybody' ELSE context END || coalesce(', in ' || unit, '')
    FROM pg_settings WHERE name LIKE 'gnngp.%'
)
SELECT line FROM lines ORDER BY line COLLATE "C";
