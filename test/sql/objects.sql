-- What CREATE EXTENSION makes, and rules that hold for all of it
\pset format unaligned
\pset tuples_only on

-- Functions of gnngp_internal: volatility, parallel safety, strictness; test/reference.sh holds the others to the reference
SELECT p.oid::regprocedure AS function, p.provolatile AS volatile, p.proparallel AS parallel, p.proisstrict AS strict
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gnngp') AND p.pronamespace = 'gnngp_internal'::regnamespace
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Forms of the public functions, which are alike except the aggregates
SELECT string_agg(proname || ' ' || forms, ', ' ORDER BY proname, forms) AS forms, bool_and(alike) AS alike
FROM (SELECT p.proname, count(*) AS forms, count(DISTINCT (p.provolatile, p.proparallel, p.proisstrict)) = 1 AS alike
      FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
      WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
        AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gnngp') AND p.pronamespace <> 'gnngp_internal'::regnamespace
      GROUP BY p.proname, p.prokind) AS f;

-- Relations
SELECT c.relname, c.relkind, c.relrowsecurity, c.reloptions
FROM pg_class c JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gnngp')
  AND c.relkind IN ('r', 'v', 'S')
ORDER BY c.relname COLLATE "C";

-- No function runs with its owner's rights
SELECT count(*) FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
WHERE d.refclassid = 'pg_extension'::regclass
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gnngp') AND p.prosecdef;

-- Every object has a comment
SELECT pg_describe_object(d.classid, d.objid, 0) AS without_comment
FROM pg_depend d
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gnngp')
  AND d.classid IN ('pg_proc'::regclass, 'pg_class'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass)
  AND obj_description(d.objid, d.classid::regclass::name) IS NULL
  AND NOT EXISTS (SELECT FROM pg_class c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid AND c.relkind IN ('S', 'i'))
  AND NOT EXISTS (SELECT FROM pg_type t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid
                  AND (t.typrelid <> 0 OR t.typelem <> 0))
ORDER BY 1;

-- Every table and every sequence is part of a dump
SELECT c.relname FROM pg_class c JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass,
    pg_extension e
WHERE e.extname = 'gnngp' AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
  AND c.relkind IN ('r', 'S') AND NOT c.oid = ANY (e.extconfig)
ORDER BY 1;
