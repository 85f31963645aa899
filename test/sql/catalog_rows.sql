-- Rows of the catalog that somebody has altered: each call gives an answer or an error, and the session goes on.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA catalog_rows;
SET search_path = catalog_rows, public, gnngp_internal;
\pset format unaligned
\pset tuples_only on

CREATE TABLE node AS SELECT i AS id, ARRAY[i % 3, i % 5, 1.0]::real[] AS x, CASE WHEN i % 2 = 0 THEN 'class ' || i % 3 END AS class,
                            CASE WHEN i % 2 = 0 THEN sin(i) END AS value, 'n' || i AS name
FROM generate_series(1, 24) i;
CREATE TABLE edge AS SELECT i AS src, i % 24 + 1 AS dst FROM generate_series(1, 24) i UNION ALL SELECT i, (i * 5) % 24 + 1 FROM generate_series(1, 24) i;
CREATE TABLE named AS SELECT 'n' || src AS src, 'n' || dst AS dst FROM edge;
CREATE INDEX ON node (id);
CREATE INDEX ON node (name);
CREATE INDEX ON edge (src);
CREATE INDEX ON edge (dst);
CREATE INDEX ON named (src);
CREATE INDEX ON named (dst);
SELECT gp_create_graph('classes', 'node', 'edge', features => '{x}', target => 'class'),
       gp_create_graph('values', 'node', 'named', id => 'name', features => '{x}', target => 'value');
SELECT count(gp_fit('classes', kernel => 'gcn', live => true)), count(gp_fit('values', kernel => 'rbf', live => true));
SELECT count(gp_fit_links('classes', keep => 2)), count(gp_fit_links('values'));
CALL gp_refresh('classes');
CREATE TABLE client (id int PRIMARY KEY, joined timestamptz NOT NULL, kind text, sum float8);
CREATE TABLE buy (client int REFERENCES client, at timestamptz NOT NULL, sum float8, what text);
INSERT INTO client SELECT i, '2024-01-01', 'k' || i % 3, i FROM generate_series(1, 20) i;
INSERT INTO buy SELECT 1 + i % 20, '2024-02-01'::timestamptz + i * interval '9 hours', i % 7, 'w' || i % 4 FROM generate_series(1, 200) i;
CREATE INDEX ON buy (client, at);
CREATE TABLE answer AS SELECT id AS client, joined + interval '40 days' AS at, CASE WHEN id < 16 THEN id % 2 = 0 END AS good FROM client;
SELECT gp_create_graph('shop', '{client,buy}'::regclass[], times => '{"buy": "at"}', exclude => '{client.sum}');
SELECT gp_create_task('leaves', 'shop', 'client', 'NOT EXISTS (SELECT FROM catalog_rows.buy b WHERE b.client = e.id AND b.sum > 5 AND b.at > t AND b.at <= t + horizon)',
                      horizon => '5 days', filter => 'e.id > 1');
SELECT gp_create_task('good', 'shop', 'answer', entity => 'client', target => 'good', horizon => '1 day');
SELECT gp_create_task('amount', 'shop', 'client.sum');
SELECT count(gp_fit(t, live => true)) FROM unnest('{leaves,good}'::text[]) AS t;
SELECT gp_grant(m, 'public') FROM unnest('{classes,values}'::text[]) AS m;

-- Every function and view that reads a model; "on" says for which tables they are called
CREATE TABLE call AS SELECT * FROM (VALUES
    ('model|block', $$SELECT * FROM gp_predict('classes', top => NULL)$$), ('model|block|grant', $$SELECT * FROM gp_predict('classes', 3)$$),
    ('model|block|graph', $$SELECT * FROM gp_predict_live('classes', ARRAY[1, 2], top => NULL)$$), ('model|block|graph', $$SELECT * FROM gp_explain('classes', 1)$$),
    ('model|graph', $$SELECT * FROM gp_predict_live('classes', 1, given_nodes => ARRAY[3], given_classes => ARRAY['class 2'])$$),
    ('model|graph', $$SELECT * FROM gp_explain_edges('classes', 1)$$),
    ('model|graph', $$SELECT * FROM gp_next_labels('classes', k => 3)$$), ('model|block', $$SELECT * FROM gp_loo('classes')$$),
    ('model|block', $$SELECT * FROM gp_predict_sets('classes')$$), ('model|block', $$SELECT * FROM gp_evaluate('classes')$$),
    ('model|block', $$SELECT * FROM gp_predict_links('classes')$$), ('model|block', $$SELECT * FROM gp_predict_links('classes', 3, k => 2)$$),
    ('model|block', $$SELECT * FROM gp_score_links('classes', ARRAY[1], ARRAY[9])$$), ('model|block', $$SELECT * FROM gp_heldout_links('classes')$$),
    ('model|block', $$SELECT * FROM gp_predict('values', 'n3'::text)$$), ('model|block|graph', $$SELECT * FROM gp_predict_live('values', ARRAY['n1', 'n2'])$$),
    ('model', $$SELECT * FROM gp_explain('values', 'n1'::text)$$), ('model|graph', $$SELECT * FROM gp_explain_edges('values', 'n1'::text)$$),
    ('model', $$SELECT * FROM gp_loo('values', NULL::text)$$),
    ('model', $$SELECT * FROM gp_predict_sets('values', NULL::text)$$), ('model', $$SELECT * FROM gp_evaluate('values')$$),
    ('model', $$SELECT * FROM gp_predict_links('values', NULL::text)$$), ('model', $$SELECT * FROM gp_embedding('values', NULL::text)$$),
    ('model|grant', $$SELECT * FROM gp_models$$), ('graph', $$SELECT * FROM gp_graphs$$), ('model|refresh', $$SELECT * FROM gp_refreshes$$),
    ('model', $$EXPLAIN SELECT * FROM gp_predict('classes', top => NULL)$$), ('model', $$EXPLAIN SELECT * FROM gp_predict_links('classes')$$),
    ('model|block|graph', $$SELECT * FROM gp_predict('leaves')$$), ('model|block|graph', $$SELECT * FROM gp_predict_live('leaves', ARRAY[2, 3])$$),
    ('model|graph', $$SELECT * FROM gp_predict_live('good', 3, as_of => '2024-03-01')$$), ('model|block', $$SELECT * FROM gp_loo('leaves')$$),
    ('model|block', $$SELECT * FROM gp_evaluate('good')$$), ('graph', $$SELECT * FROM gp_task_rows('leaves')$$), ('graph', $$SELECT * FROM gp_task_rows('good')$$),
    ('graph', $$SELECT * FROM gp_relations('shop')$$), ('graph', $$SELECT * FROM gp_columns('shop')$$), ('_graph.*(task|entity|every|horizon|tables|keys|times).* = NULL', $$SELECT gp_fit('leaves', model => 'again')$$),
    ('graph', $$SELECT * FROM gp_task_rows('amount')$$), ('model|block', $$SELECT * FROM gp_backtest('leaves')$$), ('model|graph', $$SELECT * FROM gp_explain('leaves', 3)$$),
    ('gone', $$SELECT gp_fit('classes')$$), ('gone', $$SELECT gp_fit('leaves')$$), ('gone', $$SELECT gp_drop_graph('shop')$$),
    ('gone', $$SELECT gp_set_owner('classes', current_user)$$), ('gone', $$SELECT gp_drop_model('classes')$$),
    ('asked|_graph.*= NULL|gone', $$CALL gp_refresh('classes')$$), ('_model.*= NULL|gone', $$SELECT gp_report('classes')$$)
) AS c("on", statement);

-- What a column of a type is set to: %1$I is what it was
CREATE TABLE mutation AS SELECT * FROM (VALUES
    ('any', 'NULL'),
    ('text', $$''$$), ('text', 'left(%1$I, 2)'), ('text', $$%1$I || 'x'$$), ('text', $$repeat(%1$I, 1000)$$), ('text', $$'gin(layers=4)'$$),
    ('text', $$'regression'$$), ('text', $$'classification'$$), ('text', $$'sql'$$), ('text', $$'uuid'$$), ('text', $$'laplacian'$$), ('text', $$'dgp'$$),
    ('integer', '0'), ('integer', '-1'), ('integer', '%1$I + 1'), ('integer', '%1$I - 1'), ('integer', '2147483647'), ('integer', '-2147483648'),
    ('bigint', '0'), ('bigint', '-1'), ('bigint', '%1$I + 1'), ('bigint', '%1$I - 1'), ('bigint', '2147483648'),
    ('bigint', '9223372036854775807'), ('bigint', '-9223372036854775808'),
    ('double precision', '-1'), ('double precision', '1e300'), ('double precision', $$'NaN'$$),
    ('double precision', $$'Infinity'$$), ('boolean', 'NOT %1$I'),
    ('jsonb', $$'5'$$), ('jsonb', $$'[[[]]]'$$), ('jsonb', $$'{"a": null}'$$), ('timestamp with time zone', $$'-infinity'$$),
    ('text[]', $$'{}'$$), ('text[]', '%1$I[2:]'), ('text[]', $$%1$I || 'x'::text$$), ('text[]', $$%1$I[2:] || NULL::text$$),
    ('text[]', $$array_fill('x'::text, ARRAY[70000])$$), ('text[]', 'ARRAY[%1$I, %1$I]'), ('text[]', $$'[5:7]={a,b,c}'$$),
    ('name', $$''$$), ('name', $$'x'$$), ('name', $$'ctid'$$), ('name', $$'class'$$), ('name', $$'value'$$),
    ('name[]', $$'{}'$$), ('name[]', $$'{x}'$$), ('name[]', $$'{NULL}'$$), ('name[]', $$%1$I || 'x'::name$$), ('name[]', $$'{{x,y},{x,y}}'$$),
    ('regclass', '0'), ('regclass', '1'), ('regclass', $$'pg_class'$$), ('regclass', $$'edge'$$), ('regclass', $$'node'$$),
    ('interval', '''0'''), ('interval', '-%1$I'), ('interval', $$'150000000 years'$$), ('interval', $$'1 month -30 days'$$),
    ('regclass[]', $$'{}'$$), ('regclass[]', $$'{0,1}'$$), ('regclass[]', '%1$I[2:]'), ('regclass[]', $$%1$I || 'edge'::regclass$$),
    ('regclass[]', '%1$I || %1$I'), ('regclass[]', $$'{NULL}'$$), ('regclass[]', $$'{pg_class}'$$), ('regclass[]', 'ARRAY[%1$I, %1$I]'),
    ('gp_role', $$'public'$$), ('gp_role', $$'pg_gone:nobody'$$)
) AS m(type, value);

-- Alters a column of all rows of a table, or deletes them (gone), makes the calls, and takes it all back: what each call ended with.
-- Of what is tried with each column and value an eighth of the calls, by their hash; GNNGP_LONG=1: all.
\getenv long GNNGP_LONG
\if :{?long}
\else
\set long ''
\endif
SELECT set_config('catalog_rows.long', :'long', false) AS long \gset
CREATE FUNCTION attack(catalog regclass, col name, value text) RETURNS TABLE (what text, statement text, ended text) LANGUAGE plpgsql AS $$
DECLARE
    altered bigint;
BEGIN
    what := format('%s.%s = %s', catalog, col, value);
    BEGIN
        BEGIN
            EXECUTE CASE value WHEN 'gone' THEN format('DELETE FROM %s', catalog)
                               ELSE format('UPDATE %s SET %I = %s', catalog, col, format(value, col)) END;
            GET DIAGNOSTICS altered = ROW_COUNT;
        EXCEPTION WHEN OTHERS THEN
            RETURN;
        END;
        IF altered = 0 THEN
            ended := 'XX: there is no row to alter';
            RETURN NEXT;
        END IF;
        FOR statement IN SELECT c.statement FROM call AS c
            WHERE (what ~ c."on" OR what !~ 'gp_(model|graph|grant)_catalog|gp_refresh_log|gp_block')
              AND (current_setting('catalog_rows.long') <> '' OR value = 'gone' OR hashtext(what || c.statement) % 8 = 0
                   OR (c.statement ~ 'gp_predict_live' AND what ~ 'gp_model_catalog.(class|kernel|task|nodes|labelled)')) LOOP
            BEGIN
                EXECUTE statement;
                RAISE EXCEPTION 'nothing wrong' USING ERRCODE = 'ZZZZZ';
            EXCEPTION WHEN OTHERS THEN
                ended := SQLSTATE || CASE WHEN SQLSTATE LIKE 'XX%' THEN ': ' || SQLERRM ELSE '' END;
            END;
            RETURN NEXT;
        END LOOP;
        RAISE EXCEPTION 'undo' USING ERRCODE = 'ZZZZZ';
    EXCEPTION WHEN SQLSTATE 'ZZZZZ' THEN
        NULL;
    END;
END $$;
SET client_min_messages = error;
-- All columns of what is in a dump but the bytes of blocks
CREATE VIEW altered AS
    SELECT a.attrelid::regclass AS catalog, a.attname AS col, format_type(a.atttypid, NULL) AS type
    FROM pg_extension e, unnest(e.extconfig) AS r(oid) JOIN pg_class c USING (oid) JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE e.extname = 'gnngp' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'data';
SELECT 'say what is tried of type ' || type FROM altered EXCEPT SELECT 'say what is tried of type ' || type FROM mutation;
CREATE TABLE tried AS
    SELECT t.* FROM altered a JOIN mutation m ON m.type IN ('any', a.type), attack(a.catalog, a.col, m.value) t
    UNION ALL SELECT t.* FROM (SELECT DISTINCT catalog FROM altered) a, attack(a.catalog, 'all', 'gone') t;
SELECT count(*) > 1500, count(DISTINCT what) > 500, count(DISTINCT ended) > 20, bool_and(ended IS NOT NULL) FROM tried;
-- No call ends with an internal error
SELECT * FROM tried WHERE ended ~ '^XX' AND ended !~ '^XX001';
-- What C relies on is held against the rest of the row, and against the blocks
SELECT DISTINCT ended COLLATE "C" FROM tried WHERE what ~ 'gp_model_catalog.(class|kernel|task|nodes|labelled)' AND statement ~ 'gp_predict_live' ORDER BY 1;
-- Nothing of it has stayed
SELECT count(*) FROM gp_predict('classes'), gp_predict_live('values', 'n1'::text);
SELECT gp_drop_graph(g) FROM unnest('{classes,values,shop}'::text[]) AS g;
DROP SCHEMA catalog_rows CASCADE;
