-- gp_fit: the karate club against golden numbers, types of labels, values and ids.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA fit;
SET search_path = fit, public;

CREATE TABLE club (id integer PRIMARY KEY, faction text, label text);
INSERT INTO club SELECT i, CASE WHEN i = ANY ('{9,14,15,18,20,22,23,24,25,26,27,28,29,30,31,32,33}')
                           THEN 'officer' ELSE 'instructor' END FROM generate_series(0, 33) i;
UPDATE club SET label = faction WHERE id IN (0, 1, 32, 33);
CREATE TABLE ties (src integer, dst integer);
INSERT INTO ties VALUES
    (0,1), (0,2), (0,3), (0,4), (0,5), (0,6), (0,7), (0,8), (0,10), (0,11), (0,12), (0,13),
    (0,17), (0,19), (0,21), (0,31), (1,2), (1,3), (1,7), (1,13), (1,17), (1,19), (1,21), (1,30),
    (2,3), (2,7), (2,8), (2,9), (2,13), (2,27), (2,28), (2,32), (3,7), (3,12), (3,13), (4,6),
    (4,10), (5,6), (5,10), (5,16), (6,16), (8,30), (8,32), (8,33), (9,33), (13,33), (14,32),
    (14,33), (15,32), (15,33), (18,32), (18,33), (19,33), (20,32), (20,33), (22,32), (22,33),
    (23,25), (23,27), (23,29), (23,32), (23,33), (24,25), (24,27), (24,31), (25,31), (26,29),
    (26,33), (27,33), (28,31), (28,33), (29,32), (29,33), (30,32), (30,33), (31,32), (31,33),
    (32,33);

SELECT gp_create_graph('club', 'club', 'ties', target => 'label');
SELECT model, task, kernel, strategy, device IN ('cpu', 'cuda') AS device, nodes, edges, features, classes, labelled, landmarks,
       round(nugget::numeric, 4) AS nugget, log_marginal_likelihood IS NOT NULL AS lml,
       loo_score IS NOT NULL AS loo, seconds >= 0 AS seconds, peak_bytes > 0 AS peak
FROM gp_fit('club', kernel => 'gcn(sigma_b=0.1)', nugget => 0.01);

-- Means of the reference implementation, in float to 1e-3.
SELECT g.node, g.class, abs(p.score - g.mean) < 1e-3 AS close
FROM (VALUES (0, 'instructor', 1.000477091), (0, 'officer', 0.005679210228),
             (2, 'instructor', 0.5463969148), (2, 'officer', 0.2449152912),
             (3, 'instructor', 0.799870621), (3, 'officer', -0.03893289268)) g (node, class, mean)
LEFT JOIN gp_predict('club', top => NULL) p USING (node, class)
ORDER BY 1, 2;

-- Four labels tell the sides of the others.
SELECT count(*) AS members, count(*) FILTER (WHERE p.class = c.faction) >= 31 AS mostly_right
FROM gp_predict('club') p JOIN club c ON c.id = p.node;

-- Links of so few nodes: as many singular vectors as nodes would fit each of them, and have .72.
SELECT avg(auc) > 0.8 AS good FROM generate_series(1, 4) AS s, gp_fit_links('club', 'deep', kernel => 'dgp', seed => s, replace => true);
SELECT gp_drop_model('deep');

-- The same input and seed give the same bits, and a model of the same name is replaced.
CREATE TEMP TABLE first_fit AS SELECT * FROM gp_predict('club', top => NULL);
SELECT model FROM gp_fit('club', kernel => 'gcn(sigma_b=0.1)', nugget => 0.01);
(TABLE first_fit EXCEPT SELECT * FROM gp_predict('club', top => NULL))
UNION ALL (SELECT * FROM gp_predict('club', top => NULL) EXCEPT TABLE first_fit);
SELECT count(*) FROM gp_models;
SELECT count(DISTINCT (model, version)) AS versions FROM gnngp_internal.gp_block;

-- Another name keeps both; a low-rank fit tells its landmarks.
SELECT model, strategy, landmarks BETWEEN 1 AND 6 AS landmarks
FROM gp_fit('club', 'sketch', strategy => 'nystrom', landmarks => 6);
SELECT model, strategy, nugget > 0 AS nugget FROM gp_fit('club', 'whole', strategy => 'exact');
SELECT model, task, kernel, strategy FROM gp_models ORDER BY model COLLATE "C";

-- Labels of each type; classes come in the type's order.
CREATE TYPE side AS ENUM ('zeta', 'mid', 'alpha');
CREATE DOMAIN pick AS smallint;
ALTER TABLE club ADD t_bool boolean, ADD t_int bigint, ADD t_enum side, ADD t_char char(12),
    ADD t_varchar varchar, ADD t_domain pick, ADD t_uuid uuid, ADD t_real real, ADD t_numeric numeric;
UPDATE club SET t_bool = label = 'officer', t_int = CASE label WHEN 'officer' THEN -5 ELSE 10 END,
    t_enum = CASE label WHEN 'officer' THEN 'alpha' ELSE 'zeta' END::side, t_char = label,
    t_varchar = label, t_domain = CASE label WHEN 'officer' THEN 1 ELSE 2 END,
    t_uuid = md5(label)::uuid, t_real = CASE label WHEN 'officer' THEN 2.5 ELSE -1 END,
    t_numeric = CASE label WHEN 'officer' THEN 1000000.25 ELSE 0.5 END
WHERE label IS NOT NULL;

CREATE FUNCTION fit_target(target name, task text = 'auto')
RETURNS TABLE (fitted_task text, classes integer, first text, last text, score numeric) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gp_create_graph('typed', 'club', 'ties', target => target);
    SELECT f.task, f.classes INTO fitted_task, classes FROM gp_fit('typed', task => fit_target.task, nugget => 0.01) f;
    SELECT p.class, round(p.score::numeric, 2) INTO first, score FROM gp_predict('typed', nodes => '{0}') p;
    SELECT p.class INTO last FROM gp_predict('typed', nodes => '{33}') p;
    PERFORM gp_drop_graph('typed');
    RETURN NEXT;
END $$;
SELECT t.target, f.* FROM unnest('{label,t_bool,t_int,t_enum,t_char,t_varchar,t_domain}'::name[])
    WITH ORDINALITY t (target, i), fit_target(t.target) f ORDER BY t.i;
SELECT * FROM fit_target('t_uuid', 'classification');
SELECT * FROM fit_target('t_real', 'classes');

-- Values of each type.
CREATE FUNCTION fit_value(target name, task text = 'auto')
RETURNS TABLE (fitted_task text, classes integer, ascending boolean, no_class boolean, doubt boolean) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gp_create_graph('typed', 'club', 'ties', target => target);
    SELECT f.task, f.classes INTO fitted_task, classes FROM gp_fit('typed', task => fit_value.task, nugget => 0.01) f;
    SELECT a.score < b.score, a.class IS NULL AND a.probability IS NULL, a.variance > 0 INTO ascending, no_class, doubt
    FROM gp_predict('typed', nodes => '{0}') a, gp_predict('typed', nodes => '{33}') b;
    PERFORM gp_drop_graph('typed');
    RETURN NEXT;
END $$;
SELECT t.target, f.* FROM unnest('{t_real,t_numeric}'::name[]) WITH ORDINALITY t (target, i), fit_value(t.target) f ORDER BY t.i;
SELECT * FROM fit_value('t_domain', 'regression');
SELECT * FROM fit_value('t_int', 'values');

-- Ids of other types: the same predictions under another name.
CREATE VIEW club_uuid AS SELECT md5(id::text)::uuid AS id, label, id AS number FROM club;
CREATE VIEW ties_uuid AS SELECT md5(src::text)::uuid AS src, md5(dst::text)::uuid AS dst FROM ties;
CREATE VIEW club_text AS SELECT 'member ' || id AS id, label, id AS number FROM club;
CREATE VIEW ties_text AS SELECT 'member ' || src AS src, ('member ' || dst)::varchar AS dst FROM ties;
CREATE VIEW club_far AS SELECT id::bigint * 1000000007 - 5 AS id, label, id AS number FROM club;
CREATE VIEW ties_far AS SELECT src::bigint * 1000000007 - 5 AS src, dst::bigint * 1000000007 - 5 AS dst FROM ties;
SELECT gp_create_graph('club_uuid', 'club_uuid', 'ties_uuid', target => 'label');
SELECT gp_create_graph('club_text', 'club_text', 'ties_text', target => 'label');
SELECT gp_create_graph('club_far', 'club_far', 'ties_far', target => 'label');
SELECT nodes, edges, labelled FROM gp_fit('club_uuid', kernel => 'gcn(sigma_b=0.1)', nugget => 0.01);
SELECT nodes, edges, labelled FROM gp_fit('club_text', kernel => 'gcn(sigma_b=0.1)', nugget => 0.01);
SELECT nodes, edges, labelled FROM gp_fit('club_far', kernel => 'gcn(sigma_b=0.1)', nugget => 0.01);
SELECT count(*), bool_and(abs(p.score - f.score) < 1e-4 AND abs(p.probability - f.probability) < 1e-3) AS same
FROM gp_predict('club_uuid', NULL::uuid, top => NULL) p JOIN club_uuid c ON c.id = p.node
JOIN first_fit f ON f.node = c.number AND f.class = p.class;
SELECT count(*), bool_and(abs(p.score - f.score) < 1e-4 AND abs(p.probability - f.probability) < 1e-3) AS same
FROM gp_predict('club_text', NULL::text, top => NULL) p JOIN club_text c ON c.id = p.node
JOIN first_fit f ON f.node = c.number AND f.class = p.class;
SELECT count(*), bool_and(abs(p.score - f.score) < 1e-4 AND abs(p.probability - f.probability) < 1e-3) AS same
FROM gp_predict('club_far', top => NULL) p JOIN club_far c ON c.id = p.node
JOIN first_fit f ON f.node = c.number AND f.class = p.class;

-- Features: an array, columns and a sparse table with the same numbers fit the same model.
CREATE TABLE people (id integer, f real[], f8 float8[], fi integer[], a integer, b numeric, c float8, label text);
INSERT INTO people SELECT id, array[id % 3, id % 4, 1], array[id % 3, id % 4, 1], array[id % 3, id % 4, 1],
                          id % 3, id % 4, 1, label FROM club;
CREATE TABLE traits (person integer, trait integer, value float8);
INSERT INTO traits SELECT id, k - 1, f[k] FROM people, generate_series(1, 3) k WHERE f[k] <> 0;
CREATE FUNCTION fit_features(name text, features text[], sparse regclass = NULL)
RETURNS TABLE (features_read bigint, score numeric) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gp_create_graph(name, 'people', 'ties', features => features, target => 'label', sparse_features => sparse, scale => 'none');
    SELECT f.features INTO features_read FROM gp_fit(name, nugget => 0.1) f;
    SELECT round(sum(p.score)::numeric, 2) INTO score FROM gp_predict(name) p;
    PERFORM gp_drop_graph(name);
    RETURN NEXT;
END $$;
SELECT t.name, f.features_read, f.score = first_value(f.score) OVER () AS same
FROM (VALUES ('real', '{f}'::text[]), ('double', '{f8}'), ('integers', '{fi}'), ('columns', '{a,b,c}')) t (name, features),
     fit_features(t.name, t.features) f;
SELECT s.features_read, s.score = f.score AS same
FROM fit_features('sparse', NULL, 'traits') s, fit_features('real', '{f}') f;

-- Repeated edges and self-loops change nothing without weights.
INSERT INTO ties SELECT dst, src FROM ties;
INSERT INTO ties SELECT i, i FROM generate_series(0, 5) i;
SELECT edges FROM gp_fit('club', kernel => 'gcn(sigma_b=0.1)', nugget => 0.01);
(TABLE first_fit EXCEPT SELECT * FROM gp_predict('club', top => NULL))
UNION ALL (SELECT * FROM gp_predict('club', top => NULL) EXCEPT TABLE first_fit);

-- Weights add up over repeated edges, in any order; direction matters where it is asked for.
CREATE TABLE heavy AS SELECT src, dst, 1 + (src + dst) % 3 AS w FROM ties WHERE src < dst;
CREATE TABLE split AS SELECT dst AS src, src AS dst, 1.0::real AS w FROM heavy, generate_series(1, w);
CREATE TABLE one_way AS SELECT src, dst FROM ties WHERE src < dst;
SELECT gp_create_graph('heavy', 'club', 'heavy', target => 'label', weight => 'w');
SELECT gp_create_graph('split', 'club', 'split', target => 'label', weight => 'w');
SELECT gp_create_graph('one_way', 'club', 'one_way', target => 'label', directed => true);
SELECT edges FROM gp_fit('heavy', nugget => 0.01);
SELECT edges FROM gp_fit('split', nugget => 0.01);
SELECT edges FROM gp_fit('one_way', nugget => 0.01);
SELECT bool_and(a.score = b.score) AS same FROM gp_predict('heavy', top => NULL) a JOIN gp_predict('split', top => NULL) b USING (node, class);
SELECT bool_and(a.score = b.score) AS same FROM gp_predict('heavy', top => NULL) a JOIN gp_predict('club', top => NULL) b USING (node, class);
SELECT bool_and(a.score = b.score) AS same FROM gp_predict('one_way', top => NULL) a JOIN gp_predict('club', top => NULL) b USING (node, class);

-- Ids of less common types
CREATE DOMAIN number AS bigint;
CREATE FUNCTION fit_ids(type text) RETURNS TABLE (typed regtype, nodes bigint, matched bigint, one text) LANGUAGE plpgsql AS $$
DECLARE
    from_number text := CASE type WHEN 'date' THEN 'date ''2020-01-31'' + %s' WHEN 'char(9)' THEN '(''m'' || %s)::char(9)'
                                  WHEN 'bytea' THEN 'decode(md5((%s)::text), ''hex'')' ELSE '(%s)::' || type END;
BEGIN
    EXECUTE format('CREATE VIEW ids AS SELECT %s AS id, label FROM club', format(from_number, 'id'));
    EXECUTE format('CREATE VIEW id_ties AS SELECT %s AS src, %s AS dst FROM ties', format(from_number, 'src'), format(from_number, 'dst'));
    PERFORM gp_create_graph('ids', 'ids', 'id_ties', target => 'label');
    SELECT f.nodes INTO nodes FROM gp_fit('ids', nugget => 0.01) f;
    EXECUTE format('SELECT count(*), min(pg_typeof(p.node)::text) FROM ids i JOIN gp_predict(''ids'', id => NULL::%s) p ON p.node = i.id', type)
        INTO matched, typed;
    EXECUTE format('SELECT class FROM gp_predict(''ids'', id => %s)', format(from_number, '33')) INTO one;
    PERFORM gp_drop_graph('ids');
    DROP VIEW ids, id_ties;
    RETURN NEXT;
END $$;
SET DateStyle = 'SQL, DMY';
SELECT f.* FROM unnest('{smallint,bigint,number,numeric,real,text,char(9),name,date,bytea}'::text[])
    WITH ORDINALITY t (type, i), fit_ids(t.type) f ORDER BY t.i;
RESET DateStyle;

-- Many integer classes and a single class are told.
CREATE TABLE line (id integer, y integer, one text);
INSERT INTO line SELECT i, i / 2, 'only' FROM generate_series(0, 119) i;
CREATE TABLE steps AS SELECT i AS src, i + 1 AS dst FROM generate_series(0, 118) i;
SELECT gp_create_graph('line', 'line', 'steps', target => 'y');
SELECT task, classes FROM gp_fit('line', nugget => 0.1);
SELECT task, classes FROM gp_fit('line', task => 'regression', nugget => 0.1);
SELECT gp_create_graph('single', 'line', 'steps', target => 'one');
SELECT task, classes FROM gp_fit('single', nugget => 0.1);

SELECT gp_drop_graph(graph) FROM gp_graphs ORDER BY graph;
SELECT count(*) FROM gp_models;
SELECT count(*) FROM gnngp_internal.gp_block;
SET client_min_messages = warning;
DROP SCHEMA fit CASCADE;

-- A value of which the labels say nothing has their mean and their spread.
CREATE TABLE avenue AS SELECT i AS id, nullif(i % 5, 0)::real AS rooms,
    CASE WHEN i % 3 > 0 THEN 100 + 40 * sin(i / 15.0) + 3 * (i % 5) END::real AS price FROM generate_series(1, 150) i
UNION ALL SELECT 0, NULL, NULL;
CREATE TABLE houses AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 149) i;
SELECT nodes, labels FROM gp_create_graph('avenue', nodes => 'avenue', edges => 'houses', features => '{rooms}', target => 'price');
SELECT strategy FROM gp_fit('avenue', kernel => 'laplacian');
SELECT abs(p.score - t.mean) < 0.5 * t.deviation AS the_mean, sqrt(p.variance) BETWEEN 0.9 * t.deviation AND 1.1 * t.deviation AS their_spread
FROM gp_predict('avenue', 0) p, (SELECT avg(price) AS mean, stddev(price) AS deviation FROM avenue) t;
-- A kernel of too many parts for a factor has no powers to choose from
SELECT strategy FROM gp_fit('avenue', kernel => 'relu(A*X)*W1 + X*W2 + b + A*X*W3, layers=7');
SELECT gp_drop_graph('avenue');
