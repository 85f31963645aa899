-- Functions that are asked about nodes, as their second argument.
--
-- The rows name nodes by ids of the type that the caller used.  A polymorphic function gives such
-- rows, but PostgreSQL finds their type before it adds default arguments, and by the place of an
-- argument in the call.  So one function has five forms:
--
--   form                  serves                                       rows have ids as
--   nodes gp_node_list    gp_predict('m'), nodes => '{1,2}'            bigint
--   nodes gp_integers     '{1,2}'::int[], whatever the place           bigint
--   nodes anyarray        arrays of any other type                     the type of the elements
--   id anynonarray        one id of any type but text; NULL::uuid      its type
--   id text               'a', '{a,b}', NULL, a parameter $2           text
--
-- The first two have no polymorphic type, so that they work where nodes is left out or given by
-- name.  gp_node_list is a domain over text: for a literal without a name PostgreSQL prefers text
-- itself, the last form.  gp_integers (value_types.sql) is what arrays of all integer types become;
-- it is the preferred type of its category, so PostgreSQL takes it before anyarray.
-- pg/ids/given_ids.c reads all of them.
--
-- gp_create_forms makes the five.  In its texts {nodes} is the argument of a form, {type} the type
-- of ids in the rows, {others} that of a further list of nodes, and {of nodes} what the comment
-- says.  PostgreSQL takes a list without a type, as drivers send it, for a text where it is
-- anycompatible.  It does not where the rows are polymorphic: there the list may be "any".
--
-- Rows of pairs name nodes beside the one of the call, whose ids may be too large for a smallint, as
-- which psycopg sends a small integer.  So these functions have a sixth form, id smallint, with rows
-- of bigint.
CREATE PROCEDURE gnngp_internal.gp_create_forms(
    name text, arguments text, columns text, symbol text, attributes text, comment text)
LANGUAGE plpgsql
AS $plpgsql$
DECLARE
    form text[];
    made text;
BEGIN
    FOREACH form SLICE 1 IN ARRAY ARRAY[
        ['nodes gnngp_internal.gp_node_list DEFAULT NULL', 'bigint', 'anycompatible DEFAULT NULL::text', 'of all nodes (integer ids)'],
        ['nodes gnngp_internal.gp_integers', 'bigint', 'anycompatible DEFAULT NULL::text', 'of these nodes (integer ids)'],
        ['nodes anyarray', 'anyelement', '"any" DEFAULT NULL', 'of these nodes (ids of any type)'],
        ['id anynonarray', 'anynonarray', '"any" DEFAULT NULL', 'of one node (all for a NULL of the type of the ids)'],
        ['id text', 'text', 'anycompatible DEFAULT NULL::text', 'of one node by the text of its id (all for NULL)']]
    LOOP
        -- Without all nodes as a default, the caller of this procedure has the first form.
        CONTINUE WHEN form[1] LIKE '% DEFAULT NULL' AND arguments LIKE '%{nodes without default}%';
        made := '@extschema@.' || format('%s(%s)', name,
            replace(regexp_replace(arguments, '{nodes.*?}', form[1]), '{others}', form[3]));
        EXECUTE format('CREATE FUNCTION %s RETURNS TABLE (%s) AS ''MODULE_PATHNAME'', %L LANGUAGE C %s',
                       made, replace(columns, '{type}', form[2]), symbol, attributes);
        EXECUTE format('COMMENT ON FUNCTION %s IS %L',
                       regexp_replace(made, ' DEFAULT (''[^'']*''|[^,)]+)', '', 'g'), replace(comment, '{of nodes}', form[4]));
    END LOOP;
    IF columns LIKE '%dst {type}%' THEN
        made := '@extschema@.' || format('%s(%s)', name,
            replace(replace(arguments, '{nodes}', 'id smallint'), '{others}', 'anycompatible DEFAULT NULL::text'));
        EXECUTE format('CREATE FUNCTION %s RETURNS TABLE (%s) LANGUAGE sql %s AS ''SELECT * FROM %s.%s(%s)''',
            made, replace(columns, '{type}', 'bigint'), regexp_replace(attributes, ' SUPPORT .*', ''), '@extschema@', name,
            (SELECT string_agg(replace(split_part(a, ' ', 1), '{nodes}', 'id::bigint'), ', ')
             FROM unnest(string_to_array(arguments, ', ')) AS a));
        EXECUTE format('COMMENT ON FUNCTION %s IS %L', regexp_replace(made, ' DEFAULT (''[^'']*''|[^,)]+)', '', 'g'),
            replace(comment, '{of nodes}', 'of one node, a small integer beside nodes that may be larger'));
    END IF;
END $plpgsql$;

CREATE FUNCTION gnngp_internal.gp_predict_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_predict_support' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gnngp_internal.gp_predict_support(internal) IS 'planner support: the rows of gp_predict';

CREATE FUNCTION gnngp_internal.gp_links_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'gnngp_links_support' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gnngp_internal.gp_links_support(internal) IS
    'planner support: the rows of gp_predict_links and gp_score_links';

CALL gnngp_internal.gp_create_forms('gp_predict',
    'model text, {nodes}, top integer DEFAULT 1, unlabelled_only boolean DEFAULT false, class gnngp_internal.gp_class DEFAULT NULL',
    'node {type}, class text, score double precision, variance double precision, probability double precision',
    'gnngp_predict',
    'STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000 SUPPORT gnngp_internal.gp_predict_support',
    'the best classes, or the value, {of nodes}; gp_evaluate(model) says how good they are');

CALL gnngp_internal.gp_create_forms('gp_predict_sets',
    'model text, {nodes}, coverage double precision DEFAULT 0.9, unlabelled_only boolean DEFAULT false, by_class boolean DEFAULT false',
    'node {type}, classes text[], probability double precision, lower double precision, upper double precision',
    'gnngp_predict_sets', 'STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000',
    'the set of classes, or the interval, {of nodes}, which holds the true one as often as coverage says');

CALL gnngp_internal.gp_create_forms('gp_predict_live',
    'model text, {nodes}, top integer DEFAULT 1, given_nodes {others}, given_classes "any" DEFAULT NULL,'
    ' given_values double precision[] DEFAULT NULL, as_of timestamp with time zone DEFAULT NULL,'
    ' class gnngp_internal.gp_class DEFAULT NULL',
    'node {type}, class text, score double precision, variance double precision, probability double precision',
    'gnngp_predict_live', 'STABLE PARALLEL RESTRICTED COST 100000 ROWS 10',
    'the best classes, or the value, {of nodes}, from the tables as they are now, and as if some nodes were given labels;'
    ' for models fitted with live => true, and for models of tasks, where as_of may be any time and the filter does not count');

CREATE FUNCTION @extschema@.gp_predict_live(
    model text, id text, given_nodes text, given_classes text DEFAULT NULL,
    given_values double precision[] DEFAULT NULL, top integer DEFAULT 1)
RETURNS TABLE (node text, class text, score double precision, variance double precision, probability double precision)
LANGUAGE sql STABLE PARALLEL RESTRICTED COST 100000 ROWS 10
BEGIN ATOMIC
    SELECT * FROM @extschema@.gp_predict_live(model, id, top, given_nodes::text[], given_classes::text[], given_values);
END;
COMMENT ON FUNCTION @extschema@.gp_predict_live(text, text, text, text, double precision[], integer) IS
    'gp_predict_live with nodes and given labels as texts, as drivers send parameters without a type';

CALL gnngp_internal.gp_create_forms('gp_loo',
    'model text, {nodes}',
    'node {type}, target text, predicted text, score double precision, variance double precision,'
    ' probability double precision, as_of timestamp with time zone',
    'gnngp_loo', 'STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000',
    'the prediction {of nodes} that are labelled, each without its label; gp_evaluate(model) sums it up');

CALL gnngp_internal.gp_create_forms('gp_predict_links',
    'model text, {nodes}, k integer DEFAULT 10, candidates text DEFAULT ''auto'', among {others}',
    'src {type}, dst {type}, score double precision, variance double precision, probability double precision',
    'gnngp_predict_links',
    'STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT gnngp_internal.gp_links_support',
    'the likeliest missing links {of nodes}; gp_score_links(model, src, dst) scores given pairs');

CALL gnngp_internal.gp_create_forms('gp_heldout_links',
    'model text, {nodes}',
    'src {type}, dst {type}, linked boolean, score double precision, variance double precision,'
    ' probability double precision',
    'gnngp_heldout_links', 'STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000',
    'the pairs {of nodes} that a link model held out, and its scores; gp_evaluate(model) sums it up');

CALL gnngp_internal.gp_create_forms('gp_embedding',
    'model text, {nodes}',
    'node {type}, embedding real[]',
    'gnngp_embedding', 'STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000',
    'the coordinates {of nodes} in a trained link model: nodes with a large inner product are likely linked');

CALL gnngp_internal.gp_create_forms('gp_cluster',
    'graph text, {nodes without default}, clusters integer, kernel @extschema@.gp_kernel DEFAULT ''laplacian'','
    ' seed bigint DEFAULT 0',
    'node {type}, cluster integer',
    'gnngp_cluster', 'VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000',
    'the groups {of nodes} by kernel k-means, of a kernel, or of what the kernel gckm learns; stores nothing');

-- All nodes of a graph whose ids are integers, or a literal that lists some: the number of groups
-- stands second.
CREATE FUNCTION @extschema@.gp_cluster(
    graph text, clusters integer, kernel @extschema@.gp_kernel DEFAULT 'laplacian',
    seed bigint DEFAULT 0, nodes gnngp_internal.gp_node_list DEFAULT NULL)
RETURNS TABLE (node bigint, cluster integer)
AS 'MODULE_PATHNAME', 'gnngp_cluster' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION @extschema@.gp_cluster(text, integer, @extschema@.gp_kernel, bigint, gnngp_internal.gp_node_list) IS
    'the groups of all nodes (integer ids) by kernel k-means, of a kernel, or of what the kernel gckm learns; stores nothing';

DROP PROCEDURE gnngp_internal.gp_create_forms(text, text, text, text, text, text);
