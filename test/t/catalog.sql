-- Every object of the extension with all its properties, one line each: what 010_upgrade.pl compares.
SET search_path = pg_catalog;

CREATE TEMP VIEW member AS
    SELECT d.classid, d.objid, i.type AS kind, i.identity
    FROM pg_depend d, pg_identify_object(d.classid, d.objid, 0) i
    WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
        AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gnngp');

CREATE TEMP VIEW relation AS
    SELECT c.*, m.kind, m.identity FROM pg_class c JOIN member m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid;

CREATE TEMP VIEW property AS
SELECT kind || ' ' || identity AS object, 'member' AS property, 'yes' AS value FROM member
UNION ALL
SELECT kind || ' ' || identity, 'comment', obj_description(objid, classid::regclass::name) FROM member
UNION ALL
SELECT m.kind || ' ' || identity, 'initial privileges ' || p.objsubid, p.initprivs::text
FROM member m JOIN pg_init_privs p ON p.classoid = m.classid AND p.objoid = m.objid
UNION ALL
SELECT kind || ' ' || identity, a.key, a.value
FROM member m JOIN pg_proc p ON m.classid = 'pg_proc'::regclass AND p.oid = m.objid,
    LATERAL (VALUES ('definition', CASE WHEN prokind <> 'a' THEN pg_get_functiondef(p.oid) END),
                    ('arguments', pg_get_function_arguments(p.oid)), ('result', pg_get_function_result(p.oid)),
                    ('cost', procost::text), ('rows', prorows::text), ('support', prosupport::text),
                    ('privileges', proacl::text), ('owner', proowner::regrole::text)) a(key, value)
UNION ALL
SELECT kind || ' ' || identity, a.key, a.value
FROM member m JOIN pg_aggregate g ON m.classid = 'pg_proc'::regclass AND g.aggfnoid = m.objid,
    LATERAL jsonb_each_text(to_jsonb(g) - 'aggtranstype' - 'aggmtranstype') a(key, value)
UNION ALL
SELECT kind || ' ' || identity, 'aggtranstype', g.aggtranstype::regtype::text
FROM member m JOIN pg_aggregate g ON m.classid = 'pg_proc'::regclass AND g.aggfnoid = m.objid
UNION ALL
SELECT kind || ' ' || identity, a.key, a.value
FROM relation c,
    LATERAL (VALUES ('kind', relkind::text), ('persistence', relpersistence::text), ('options', reloptions::text),
                    ('privileges', relacl::text), ('owner', relowner::regrole::text),
                    ('row security', relrowsecurity || ' ' || relforcerowsecurity), ('replica identity', relreplident::text),
                    ('view', CASE WHEN relkind = 'v' THEN pg_get_viewdef(oid) END)) a(key, value)
UNION ALL
SELECT kind || ' ' || identity, 'sequence', concat_ws(' ', s.seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle)
FROM relation c JOIN pg_sequence s ON s.seqrelid = c.oid
UNION ALL
SELECT kind || ' ' || identity, 'owned by', concat_ws(' ', d.refobjid::regclass, d.refobjsubid, d.deptype)
FROM relation c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.refobjsubid > 0 AND c.relkind = 'S'
UNION ALL
SELECT kind || ' ' || identity, 'column ' || a.attname,
    concat_ws(' ', row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum), format_type(a.atttypid, a.atttypmod),
        a.attnotnull, 'storage', a.attstorage, a.attcompression, 'align', a.attalign, 'collation', a.attcollation::regcollation,
        'default', pg_get_expr(f.adbin, f.adrelid), 'privileges', a.attacl, 'options', (SELECT string_agg(o, ' ') FROM unnest(a.attoptions) o WHERE o !~ '^pg_'),
        'comment', col_description(c.oid, a.attnum))
FROM relation c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef f ON f.adrelid = c.oid AND f.adnum = a.attnum
WHERE c.relkind <> 'S'
UNION ALL
SELECT kind || ' ' || identity, 'constraint ' || o.conname, pg_get_constraintdef(o.oid)
FROM relation c JOIN pg_constraint o ON o.conrelid = c.oid
UNION ALL
SELECT kind || ' ' || identity, 'index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
FROM relation c JOIN pg_index i ON i.indrelid = c.oid
UNION ALL
SELECT kind || ' ' || identity, 'policy ' || p.polname,
    concat_ws(' ', p.polcmd, p.polpermissive, p.polroles, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
FROM relation c JOIN pg_policy p ON p.polrelid = c.oid
UNION ALL
SELECT kind || ' ' || identity, 'trigger ' || t.tgname, pg_get_triggerdef(t.oid)
FROM relation c JOIN pg_trigger t ON t.tgrelid = c.oid
UNION ALL
SELECT kind || ' ' || identity, a.key, a.value
FROM member m JOIN pg_type t ON m.classid = 'pg_type'::regclass AND t.oid = m.objid,
    LATERAL jsonb_each_text(to_jsonb(t) - '{oid,typnamespace,typowner,typrelid,typelem,typarray,typbasetype,typcollation}'::text[]) a(key, value)
UNION ALL
SELECT kind || ' ' || identity, a.key, a.value
FROM member m JOIN pg_operator o ON m.classid = 'pg_operator'::regclass AND o.oid = m.objid,
    LATERAL (VALUES ('function', oprcode::text), ('result', oprresult::regtype::text), ('commutator', oprcom::regoperator::text),
                    ('negator', oprnegate::regoperator::text), ('restrict', oprrest::text), ('join', oprjoin::text),
                    ('merges', oprcanmerge::text), ('hashes', oprcanhash::text)) a(key, value)
UNION ALL
SELECT kind || ' ' || identity, a.key, a.value
FROM member m JOIN pg_cast c ON m.classid = 'pg_cast'::regclass AND c.oid = m.objid,
    LATERAL (VALUES ('function', castfunc::regprocedure::text), ('context', castcontext::text), ('method', castmethod::text)) a(key, value)
UNION ALL
SELECT kind || ' ' || identity, a.key, a.value
FROM member m JOIN pg_opclass c ON m.classid = 'pg_opclass'::regclass AND c.oid = m.objid,
    LATERAL (VALUES ('type', opcintype::regtype::text), ('default', opcdefault::text), ('key type', opckeytype::regtype::text)) a(key, value)
UNION ALL
SELECT kind || ' ' || identity, 'operator ' || a.amopstrategy, a.amopopr::regoperator::text
FROM member m JOIN pg_amop a ON m.classid = 'pg_opfamily'::regclass AND a.amopfamily = m.objid
UNION ALL
SELECT kind || ' ' || identity, 'function ' || a.amprocnum, a.amproc::regprocedure::text
FROM member m JOIN pg_amproc a ON m.classid = 'pg_opfamily'::regclass AND a.amprocfamily = m.objid
UNION ALL
SELECT 'extension', a.key, a.value
FROM pg_extension e,
    LATERAL (VALUES ('version', extversion), ('relocatable', extrelocatable::text),
                    ('comment', obj_description(e.oid, 'pg_extension')),
                    ('schema', extnamespace::regnamespace::text)) a(key, value)
WHERE extname = 'gnngp'
UNION ALL
SELECT 'extension', 'in a dump ' || t.relation::regclass, t.condition
FROM pg_extension e, unnest(extconfig, extcondition) t(relation, condition)
WHERE extname = 'gnngp';

SELECT object || ': ' || property || ': ' || regexp_replace(value, '\s+', ' ', 'g')
FROM property WHERE value IS NOT NULL ORDER BY 1;
