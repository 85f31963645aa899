-- Schemas as strangers have them: facts two tables down, births, times in keys, times that none names
CREATE SCHEMA shapes;
SET search_path = shapes, public;
SET timezone = 'UTC';
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try_hint.sql'
\i :include
\pset format unaligned
\pset tuples_only on
CREATE TABLE towns (name text PRIMARY KEY);
CREATE TABLE branches (code char(3) PRIMARY KEY, opened date NOT NULL, town text REFERENCES towns);
CREATE TABLE people (name text PRIMARY KEY, birth_date date NOT NULL, income money);
CREATE TABLE accounts (iban text PRIMARY KEY, holder text NOT NULL REFERENCES people, parent text REFERENCES accounts, branch char(3) REFERENCES branches,
    opened_at timestamptz NOT NULL);
CREATE TABLE transfers (id integer, at timestamptz NOT NULL, src text NOT NULL REFERENCES accounts, dst text REFERENCES accounts, value_date date NOT NULL, amount numeric,
    PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE transfers_2024 PARTITION OF transfers FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE notes (transfer integer, at timestamptz, kind text, settled_at timestamptz, FOREIGN KEY (transfer, at) REFERENCES transfers);
CREATE TABLE parts (transfer integer, at timestamptz, share real, FOREIGN KEY (transfer, at) REFERENCES transfers);
CREATE TABLE cards (id integer PRIMARY KEY, account text REFERENCES accounts, issued date NOT NULL, expires date NOT NULL);
INSERT INTO branches VALUES ('b01', '1950-01-01');
INSERT INTO people SELECT 'p' || i, date '1960-01-01' + 100 * i, i::money FROM generate_series(1, 80) i;
INSERT INTO accounts SELECT 'a' || i, 'p' || 1 + (i - 1) % 80, CASE WHEN i > 80 THEN 'a' || i - 80 END, 'b01', '2020-01-01' FROM generate_series(1, 160) i;
-- Who has transferred much will do so again; nothing else tells
INSERT INTO transfers SELECT row_number() OVER (ORDER BY at, i), at, 'a' || i, NULL, at::date, 1 FROM generate_series(1, 160) i,
    LATERAL (SELECT timestamptz '2024-01-02' + i * interval '3 minutes' + k * (3 + hashint4(1 + (i - 1) % 80) & 31) * interval '1 day' AS at FROM generate_series(0, 100) k) t
WHERE at < '2024-11-01';
CREATE INDEX ON transfers (src, at);
INSERT INTO parts SELECT id, at, id % 7 FROM transfers, generate_series(1, 2);
CREATE INDEX ON accounts (holder);
-- All that is not clear, in one error
SELECT try($$SELECT gp_create_graph('bank', tables => '{towns,branches,people,accounts,transfers,notes,parts,cards}', times => '{"branches": "opened"}')$$);
SELECT gp_create_graph('bank', tables => '{towns,branches,people,accounts,transfers,notes,parts,cards}', times => '{"transfers": "at", "cards": null}');
SELECT relation, child_time, parent_time FROM gp_relations('bank');
SELECT col, encoding FROM gp_columns('bank') WHERE tab = 'people'::regclass;
SELECT gp_create_task('transfers', 'bank', 'people', horizon => '20 days',
    target => $$ 2 <= (SELECT count(*) FROM transfers AS t0 JOIN accounts AS a ON a.iban = t0.src WHERE a.holder = e.name AND t0.at > t AND t0.at <= t + horizon) $$);
-- As-of times begin with the facts, not with the branch or the accounts
SELECT min(as_of), count(*) FROM gp_task_rows('transfers', NULL::text);
SELECT relations, loo_score > 0.4 AS told FROM gp_fit('transfers', landmarks => 100);
SELECT DISTINCT relation FROM gp_explain('transfers', 'p1', k => 100) WHERE relation LIKE 'transfers%' ORDER BY relation;
-- Money is a value, and what is neither class nor value may be taken as its text
SELECT gp_create_task('income', 'bank', 'people', horizon => '20 days', target => 'e.income');
SET client_min_messages = warning;
SELECT task, labelled FROM gp_fit('income', landmarks => 100);
RESET client_min_messages;
SELECT gp_create_task('born', 'bank', 'people', horizon => '20 days', target => 'point(extract(year FROM e.birth_date)::integer % 2, 0)');
SELECT try($$SELECT gp_fit('born')$$);
SELECT task, classes FROM gp_fit('born', task => 'classification', landmarks => 100);
-- Live answers are the stored ones
SELECT count(*) FROM gp_predict('transfers', NULL::text) AS s JOIN gp_predict_live('transfers', ARRAY(SELECT name FROM people),
    as_of => (SELECT max(at) + interval '1 microsecond' FROM transfers)) AS l USING (node, class) WHERE abs(s.score - l.score) < 1e-4;
-- Far from what was learnt, and before anything was there
SELECT count(*) FROM gp_predict_live('transfers', 'p1', as_of => '2034-01-01');
SELECT count(*) FROM gp_predict_live('transfers', 'p1', as_of => '1934-01-01');
SELECT try($$SELECT gp_predict_live('transfers', 'p1', as_of => 'infinity')$$);
-- A task is not its graph
SELECT try($$SELECT gp_create_task('more', 'transfers', 'people.income')$$);
SELECT try($$SELECT gp_alter_graph('transfers', exclude => '{people.income}')$$);
SELECT try($$SELECT gp_fit_links('transfers')$$);
SELECT try($$SELECT gp_predict_links('transfers')$$);
SELECT gp_drop_graph('bank');
-- What a later row refers to is not known before it, nor who else does
CREATE TABLE verdicts (id integer PRIMARY KEY, word text);
CREATE TABLE rulings (id integer PRIMARY KEY, ruled_at timestamptz NOT NULL, verdict integer REFERENCES verdicts);
CREATE TABLE claims (id integer PRIMARY KEY, filed_at timestamptz NOT NULL, ruling integer REFERENCES rulings, paid boolean);
INSERT INTO verdicts VALUES (0, 'no'), (1, 'yes');
INSERT INTO rulings SELECT i, timestamptz '2024-02-01' + i * interval '3 hours', hashint4(i) & 1 FROM generate_series(1, 400) i;
INSERT INTO claims SELECT i, timestamptz '2024-01-20' + i * interval '3 hours', i, hashint4(i) & 1 = 1 FROM generate_series(1, 400) i;
-- Rulings that all claims of one kind share
INSERT INTO rulings SELECT 1000 + k, '2025-01-01', NULL FROM generate_series(0, 1) k;
ALTER TABLE claims ADD later integer REFERENCES rulings;
UPDATE claims SET later = 1000 + (hashint4(id) & 1);
UPDATE claims SET paid = NULL WHERE id > 380;
SELECT gp_create_graph('court', tables => '{claims,rulings,verdicts}');
SELECT gp_create_task('paid', 'court', 'claims.paid');
SELECT labelled, loo_score < 0.1 AS chance FROM gp_fit('paid', landmarks => 100);
-- Once it is there, it tells
UPDATE rulings SET ruled_at = '2024-01-01';
SELECT loo_score > 0.8 AS told FROM gp_fit('paid', landmarks => 100);
SELECT gp_drop_graph('court');
-- Partitions that are named beside their table count once
SELECT gp_create_graph('parts', tables => '{accounts,transfers_2024,transfers,people}', times => '{"transfers": "at"}');
SELECT relation, child, parent FROM gp_relations('parts');
SELECT gp_drop_graph('parts');
-- A column that is filled in later, also of children that are part of a row, unless times has null for it
CREATE TABLE buyers (id integer PRIMARY KEY, since timestamptz NOT NULL, plan text);
CREATE TABLE sales (id integer PRIMARY KEY, buyer integer NOT NULL REFERENCES buyers, at timestamptz NOT NULL, stars integer, due_at timestamptz);
CREATE TABLE lines (sale integer NOT NULL REFERENCES sales, price real, refund real);
INSERT INTO buyers SELECT i, '2024-01-01'::timestamptz + i * interval '2 hours', 'p' || i % 2 FROM generate_series(1, 40) AS i;
INSERT INTO sales SELECT i, 1 + i * 7919 % 40, '2024-02-01'::timestamptz + i * interval '5 hours', CASE WHEN i < 720 THEN i % 3 END,
    '2024-02-01'::timestamptz + i * interval '5 hours' + i % 5 * interval '1 day' FROM generate_series(1, 800) AS i;
INSERT INTO lines SELECT 1 + i / 2, i % 17, CASE WHEN i / 2 < 719 THEN i % 5 END FROM generate_series(0, 1599) AS i;
SELECT gp_create_graph('sales', tables => '{buyers,sales,lines}');
SELECT gp_create_task('sold', 'sales', entity => 'buyers', horizon => '10 days',
    target => '(SELECT count(*) FROM sales AS s WHERE s.buyer = e.id AND s.at > t AND s.at <= t + horizon)');
SELECT features FROM gp_fit('sold', task => 'regression', landmarks => 100);
SELECT gp_alter_graph('sales', times => '{"lines.refund": null, "sales.due_at": null, "sales.stars": null}');
SELECT features FROM gp_fit('sold', task => 'regression', landmarks => 100);
SELECT col, encoding FROM gp_columns('sales') WHERE col IN ('due_at', 'stars');
SELECT try($$SELECT gp_alter_graph('sales', times => '{"sales.stars": "due_at"}')$$);
SELECT try($$SELECT gp_alter_graph('sales', times => '{"sales.at": null}')$$);
-- A number that rows are given is a key
ALTER TABLE lines ADD line integer GENERATED ALWAYS AS IDENTITY;
SELECT encoding FROM gp_columns('sales') WHERE col = 'line';
ALTER TABLE sales ADD number integer GENERATED ALWAYS AS IDENTITY;
SELECT try($$SELECT gp_create_task('number', 'sales', target => 'sales.number')$$);
ALTER TABLE sales DROP number;
-- A column that is called as the as-of time is
ALTER TABLE buyers ADD t integer;
SELECT try($$SELECT gp_create_task('ahead', 'sales', entity => 'buyers', horizon => '10 days', target => 't < now()')$$);
SELECT gp_create_task('ahead', 'sales', entity => 'buyers', horizon => '10 days',
    target => 'e.t IS NULL AND EXISTS (SELECT FROM sales AS s WHERE s.buyer = e.id AND s.at > x.t AND s.at <= x.t + horizon)', filter => 'e.id < 9');
SELECT count(*) > 100 AS many FROM gp_task_rows('ahead');
ALTER TABLE buyers DROP t;
-- What is neither a number nor a class; a list of lists
SELECT try($$SELECT gp_create_task('due', 'sales', target => 'sales.due_at')$$);
SELECT try($$SELECT gp_alter_graph('sales', exclude => '{{lines.price,lines.refund}}')$$);
-- Several columns in one name
SELECT gp_alter_graph('sales', times => '{"lines.refund": null, "sales(due_at,stars)": null}');
SELECT features FROM gp_fit('sold', task => 'regression', landmarks => 100);
-- A table that loses its time is not taken for timeless
ALTER TABLE buyers ALTER since DROP NOT NULL;
SELECT try($$CALL gp_refresh('sold')$$);
SELECT try($$SELECT * FROM gp_predict_live('sold', 1)$$);
SELECT gp_alter_graph('sales', times => '{"buyers": "since"}');
SELECT count(*) FROM gp_fit('sold', task => 'regression', landmarks => 100);
-- also where something else is altered; a rename changes nothing, another column in its place is refused
ALTER TABLE sales ALTER at TYPE bigint USING extract(epoch FROM at);
SELECT try($$SELECT gp_alter_graph('sales', exclude => '{sales.stars}')$$);
SELECT try($$SELECT gp_alter_graph('sales', times => '{"buyers": "since"}')$$);
SELECT try($$SELECT gp_alter_graph('sales', times => '{"buyers": "since", "sales": "at"}')$$);
ALTER TABLE sales ALTER at TYPE timestamptz USING to_timestamp(at);
ALTER TABLE sales RENAME at TO sold_at;
SELECT try($$SELECT gp_alter_graph('sales', exclude => '{sales.stars}')$$);
ALTER TABLE sales ADD season date NOT NULL DEFAULT '2021-01-01', ALTER sold_at DROP NOT NULL;
SELECT try($$SELECT gp_alter_graph('sales', exclude => '{sales.stars}')$$);
SELECT try($$SELECT * FROM gp_relations('sales')$$);
ALTER TABLE sales RENAME sold_at TO at;
SELECT try($$CALL gp_refresh('sold')$$);
SELECT gp_alter_graph('sales', times => '{"buyers": "since", "sales": "at"}');
ALTER TABLE sales RENAME at TO sold_at;
ALTER TABLE sales RENAME season TO at;
SELECT try($$SELECT gp_alter_graph('sales', exclude => '{sales.stars}')$$);
ALTER TABLE sales RENAME at TO season;
ALTER TABLE sales RENAME sold_at TO at;
-- A table that was taken for timeless
ALTER TABLE lines ADD added date NOT NULL DEFAULT '2024-02-01';
SELECT try($$CALL gp_refresh('sold')$$);
ALTER TABLE lines DROP added;
ALTER TABLE sales DROP season;
-- A target that is the same as of all times
SELECT gp_create_task('whenever', 'sales', entity => 'buyers', horizon => '10 days', target => '(SELECT count(*) FROM sales AS t WHERE t.buyer = e.id)');
SELECT gp_drop_graph('sales');
-- Names in lists as SQL has them; keys whose equal values have several texts
CREATE TABLE halls ("team id" integer, "year, part" integer, PRIMARY KEY ("team id", "year, part"));
CREATE TABLE seats (team integer, part integer, row interval);
SELECT gp_create_graph('halls', '{halls,seats}', keys => '{"seats(team, part)": "halls(\"team id\",\"year, part\")"}');
SELECT relation FROM gp_relations('halls');
SELECT try($$SELECT gp_alter_graph('halls', keys => '{"seats(team,part": "halls(\"team id\",\"year, part\")"}')$$);
SELECT try($$SELECT gp_alter_graph('halls', keys => '{"seats(team part)": "halls.team id"}')$$);
CREATE TABLE rows (len interval PRIMARY KEY, at timestamp NOT NULL UNIQUE);
ALTER TABLE seats ADD FOREIGN KEY (row) REFERENCES rows, ADD day date REFERENCES rows (at);
SELECT try($$SELECT gp_alter_graph('halls', tables => '{halls,seats,rows}', exclude => '{seats.day}')$$);
SELECT try($$SELECT gp_alter_graph('halls', tables => '{halls,seats,rows}', exclude => '{seats.row}')$$);
SELECT try($$SELECT gp_alter_graph('halls', tables => '{halls,seats,rows}', times => '{"seats": null}', exclude => '{seats.row,seats.day}')$$);
SELECT gp_drop_graph('halls');
-- A word in a key of several columns is a category; labels known at once; renamed columns; keys that give times; a table that is lost
CREATE TYPE measure AS ENUM ('hba1c', 'ldl');
CREATE TABLE labs (buyer integer REFERENCES buyers, taken_at timestamptz, kind measure, code text, value real, PRIMARY KEY (buyer, taken_at, kind, code));
INSERT INTO labs SELECT 1 + i % 40, '2024-02-01'::timestamptz + i * interval '1 hour', (enum_range(NULL::measure))[1 + i / 40 % 2], 'c' || i, i % 9 FROM generate_series(0, 399) AS i;
CREATE TABLE levels (buyer integer REFERENCES buyers, audited date, level text, PRIMARY KEY (buyer, audited));
INSERT INTO levels SELECT i, date '2024-02-12', CASE WHEN i % 2 = 0 THEN 'low' ELSE 'high' END FROM generate_series(1, 40) AS i;
SELECT gp_create_graph('labs', tables => '{buyers,labs}', times => '{"buyers": "since", "labs": "taken_at"}', exclude => '{labs.value,buyers.plan}');
SELECT col, encoding FROM gp_columns('labs') WHERE tab = 'labs'::regclass;
SELECT try($$SELECT gp_create_task('level', 'labs', labels => 'levels', entity => 'buyer', target => 'level', time_column => 'audited', horizon => '-1 day')$$);
SELECT gp_create_task('level', 'labs', labels => 'levels', entity => 'buyer', target => 'level', time_column => 'audited', horizon => '0 days');
SELECT labelled FROM gp_fit('level', landmarks => 100);
ALTER TABLE labs RENAME taken_at TO taken;
CALL gp_refresh('level');
SELECT count(*) FROM gp_predict_live('level', 1, as_of => '2024-02-13');
ALTER TABLE buyers RENAME plan TO tariff;
SELECT try($$CALL gp_refresh('level')$$);
SELECT gp_alter_graph('labs', exclude => '{labs.value,buyers.tariff}');
CREATE ROLE gnngp_clerk;
GRANT gnngp_clerk TO CURRENT_USER;
GRANT CREATE, USAGE ON SCHEMA shapes TO gnngp_clerk;
GRANT SELECT ON buyers, labs, levels TO gnngp_clerk;
SELECT gp_set_owner('labs', 'gnngp_clerk');
REVOKE SELECT ON labs FROM gnngp_clerk;
SET ROLE gnngp_clerk;
SELECT try($$CALL gp_refresh('level')$$);
SELECT graph, problem FROM gp_graphs ORDER BY graph COLLATE "C";
SELECT gp_alter_graph('labs', tables => '{shapes.buyers}', times => '{"buyers": "since"}', exclude => '{}');
CALL gp_refresh('level');
SELECT gp_drop_graph('labs');
RESET ROLE;
CREATE VIEW tests AS SELECT buyer, taken, value FROM labs;
SELECT gp_create_graph('tests', tables => '{buyers,tests}', times => '{"buyers": "since"}');
SELECT gp_alter_graph('tests', keys => '{"tests.buyer": "buyers.id"}');
SELECT relation, child_time FROM gp_relations('tests');
SELECT gp_drop_graph('tests');
DROP OWNED BY gnngp_clerk;
DROP ROLE gnngp_clerk;
-- A number whose meaning depends on what its row refers to: of two sensors of very different size one tells the answer
SELECT setseed(0.5);
CREATE TABLE devices (id integer PRIMARY KEY);
INSERT INTO devices SELECT generate_series(1, 200);
CREATE TABLE sensors (id integer PRIMARY KEY, name text, since timestamptz NOT NULL DEFAULT '2023-01-01');
INSERT INTO sensors VALUES (7, 'load'), (8, 'heat');
CREATE TABLE readings (device integer NOT NULL REFERENCES devices, sensor integer NOT NULL REFERENCES sensors, value float8 NOT NULL, at timestamptz NOT NULL);
INSERT INTO readings
SELECT d, s, CASE s WHEN 7 THEN d % 2 * 2 + random() ELSE 1000 * random() END, timestamptz '2024-01-01' + (k + random()) * interval '1 day'
FROM generate_series(1, 200) AS d, generate_series(1, 60) AS k, least(7 + k % 5, 8) AS s;
CREATE INDEX ON readings (device, at);
CREATE TABLE states (device integer, at timestamptz, failed boolean);
INSERT INTO states SELECT d, timestamptz '2024-02-10' + d / 2 % 20 * interval '1 day', d % 2 = 1 FROM generate_series(1, 200) AS d;
SELECT gp_create_graph('plant', tables => '{devices,sensors,readings}', times => '{"readings": "at", "sensors": "since"}');
SELECT col, encoding, note FROM gp_columns('plant') WHERE tab = 'readings'::regclass;
SELECT gp_create_task('state', 'plant', labels => 'states', entity => 'device', target => 'failed', time_column => 'at', horizon => '1 day');
SELECT loo_score > 0.5 AS sees FROM gp_fit('state', landmarks => 100);
SELECT relation FROM gp_explain('state', '1', k => 1);
SELECT probability > 0.8 AS fails FROM gp_predict_live('state', 1, as_of => '2024-03-01', class => 'true');
-- Not before that is there
UPDATE sensors SET since = '2024-02-29';
SELECT loo_score > 0.5 AS sees FROM gp_fit('state', landmarks => 100);
SET client_min_messages = warning;
SELECT gp_drop_graph('plant');
-- More tables around a row than are read with it
CREATE TABLE hub (id integer PRIMARY KEY, at timestamptz NOT NULL, y boolean);
INSERT INTO hub SELECT i, '2024-01-01'::timestamptz + i * interval '1 hour', i % 3 = 0 FROM generate_series(1, 90) AS i;
DO $$ BEGIN
    FOR k IN 1..40 LOOP
        EXECUTE format('CREATE TABLE spoke%s AS SELECT i AS id, i * %1$s %% 7 AS x FROM generate_series(1, 9) AS i', k);
        EXECUTE format('ALTER TABLE spoke%s ADD PRIMARY KEY (id); ALTER TABLE hub ADD k%1$s integer DEFAULT %s REFERENCES spoke%1$s', k, 1 + k % 9);
    END LOOP;
END $$;
SELECT gp_create_graph('wheel', (SELECT array_agg(oid::regclass ORDER BY oid) FROM pg_class WHERE relnamespace = 'shapes'::regnamespace AND relkind = 'r' AND relname ~ '^(hub|spoke)'));
SELECT gp_create_task('y', 'wheel', 'hub.y');
SET client_min_messages = notice;
SELECT labelled FROM gp_fit('y', landmarks => 100);
-- What was answered below an entity two keys away tells, unless answers are flips of a coin
CREATE TABLE firms (id integer PRIMARY KEY);
CREATE TABLE jobs (id integer PRIMARY KEY, firm integer NOT NULL REFERENCES firms);
CREATE TABLE hopes (id integer PRIMARY KEY, job integer NOT NULL REFERENCES jobs, at timestamptz NOT NULL, hired boolean, coin boolean);
INSERT INTO firms SELECT generate_series(1, 80);
INSERT INTO jobs SELECT i, 1 + i % 80 FROM generate_series(1, 1600) i;
INSERT INTO hopes SELECT i, i, '2024-01-01'::timestamptz + i * interval '2 hours', hashint4(i % 80) % 3 = 0, hashint4(i) % 2 = 0 FROM generate_series(1, 1600) i;
UPDATE hopes SET hired = NULL WHERE id % 20 = 0;
SELECT gp_create_graph('hopes', tables => '{firms,jobs,hopes}', times => '{"firms": null, "jobs": null}', exclude => '{hopes.id}');
SELECT gp_create_task('hired', 'hopes', 'hopes.hired');
SELECT gp_create_task('coin', 'hopes', 'hopes.coin');
UPDATE hopes SET coin = NULL WHERE id % 20 = 0;
SELECT loo_score > 0.5 AS told FROM gp_fit('hired', landmarks => 100);
SELECT count(*) FROM gp_predict('hired') AS s JOIN gp_predict_live('hired', ARRAY(SELECT id FROM hopes WHERE hired IS NULL)) AS l USING (node, class) WHERE abs(s.score - l.score) < 1e-4;
SELECT loo_score < 0.02 AS blind, forward_score < 0.02 AS blind_forward FROM gp_fit('coin');
-- Where all tables refer to the same people, facts beside a row are read as far as they tell
CREATE TABLE crew (id integer PRIMARY KEY, grade real);
CREATE TABLE clients (id integer PRIMARY KEY, made integer REFERENCES crew, changed integer REFERENCES crew, size real);
INSERT INTO crew SELECT i, random() FROM generate_series(1, 40) i;
INSERT INTO clients SELECT i, 1 + i % 40, 1 + (i * 7) % 40, random() FROM generate_series(1, 60) i;
DO $$ BEGIN
    FOR k IN 1..12 LOOP
        EXECUTE format('CREATE TABLE work%s (id integer PRIMARY KEY, at timestamptz NOT NULL, made integer REFERENCES crew, changed integer REFERENCES crew,
            client integer REFERENCES clients, size real, share real)', k);
        EXECUTE format('INSERT INTO work%s SELECT i, ''2024-01-01''::timestamptz + i * interval ''1 hour'', 1 + hashint4(i) %% 40 + CASE WHEN hashint4(i) < 0 THEN 39 ELSE 0 END,
            1 + (i * 11) %% 40, 1 + (i * 13) %% 60, (hashint4(%1$s + i / 400) & 1023), random() FROM generate_series(1, 800) i', k);
    END LOOP;
END $$;
UPDATE work2 SET size = hashint4(made) & 1;
ALTER TABLE work1 ADD done boolean;
UPDATE work1 SET done = (hashint4(made) & 1) = 1 WHERE id <= 760;
SELECT gp_create_graph('crew', (SELECT array_agg(oid::regclass ORDER BY oid) FROM pg_class WHERE relnamespace = 'shapes'::regnamespace AND relkind = 'r' AND relname ~ '^(crew|clients|work)'));
SELECT gp_create_task('done', 'crew', 'work1.done');
SELECT loo_score > 0.5 AS told, relations > 20 AS many, features < 400 AS few FROM gp_fit('done', landmarks => 100);
SELECT count(*) FROM gp_predict('done') AS s JOIN gp_predict_live('done', ARRAY(SELECT id FROM work1 WHERE done IS NULL)) AS l USING (node, class) WHERE abs(s.score - l.score) < 1e-4;
SET client_min_messages = warning;
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE graph IN ('wheel', 'hopes', 'crew');
-- Rows without a time wait for the first of their children, however many tables there are around them
CREATE TABLE marks (id integer PRIMARY KEY, at timestamptz NOT NULL);
CREATE TABLE axles (id integer PRIMARY KEY, hub integer REFERENCES hub);
INSERT INTO axles SELECT id, id FROM hub;
INSERT INTO marks SELECT id, at - id % 4 * interval '1 hour' FROM hub;
DO $$ BEGIN
    FOR k IN 1..35 LOOP
        EXECUTE format('ALTER TABLE axles ADD k%s integer DEFAULT %s REFERENCES spoke%1$s', k, 1 + k % 9);
    END LOOP;
    FOR k IN 1..4 LOOP
        EXECUTE format('CREATE TABLE nuts%s AS SELECT id AS axle FROM axles; ALTER TABLE nuts%1$s ADD FOREIGN KEY (axle) REFERENCES axles', k);
    END LOOP;
END $$;
CREATE TABLE turns (axle integer REFERENCES axles, mark integer REFERENCES marks);
INSERT INTO turns SELECT id, id FROM axles;
SELECT gp_create_graph('axles', (SELECT array_agg(oid::regclass ORDER BY oid) FROM pg_class WHERE relnamespace = 'shapes'::regnamespace AND relkind = 'r' AND relname ~ '^(axles|nuts|turns|marks|spoke)') || 'hub'::regclass,
    exclude => ARRAY(SELECT 'hub.k' || k FROM generate_series(1, 40) AS k));
SELECT gp_create_task('z', 'axles', 'hub.y');
SELECT labelled FROM gp_fit('z', landmarks => 100);
SELECT aggregate FROM gp_explain('z', 5, k => 100) WHERE relation = 'axles.hub' ORDER BY aggregate COLLATE "C";
SELECT gp_drop_graph('axles');
-- Nor are they known where what would say since when is not read with them
DROP TABLE turns;
INSERT INTO marks SELECT 100 + id, at + interval '1 day' FROM hub;
DO $$ BEGIN
    FOR k IN 36..40 LOOP
        EXECUTE format('ALTER TABLE axles ADD k%s integer DEFAULT 1 REFERENCES spoke%1$s', k);
    END LOOP;
END $$;
ALTER TABLE axles ADD mark integer REFERENCES marks;
INSERT INTO axles (id, hub) SELECT 100 + id, id FROM hub WHERE y;
UPDATE axles SET mark = 100 + hub;
SELECT gp_create_graph('cut', (SELECT array_agg(oid::regclass ORDER BY oid) FROM pg_class WHERE relnamespace = 'shapes'::regnamespace AND relkind = 'r' AND relname ~ '^(axles|marks|spoke)') || 'hub'::regclass,
    exclude => ARRAY(SELECT 'hub.k' || k FROM generate_series(1, 40) AS k));
SELECT gp_create_task('c', 'cut', 'hub.y');
SELECT loo_score < 0.05 AS blind FROM gp_fit('c');
SELECT gp_drop_graph('cut');
-- Days, and times without a zone, at the ends of their range are no timestamps, here or in another zone
SET timezone = 'Asia/Tokyo';
CREATE TABLE eras (id integer PRIMARY KEY, began date NOT NULL, due date);
CREATE TABLE finds (id integer PRIMARY KEY, era integer NOT NULL REFERENCES eras, at timestamp NOT NULL, dated timestamp);
SELECT gp_create_graph('eras', tables => '{eras,finds}');
SELECT gp_create_task('found', 'eras', 'eras', horizon => '2 days', target => 'EXISTS (SELECT FROM shapes.finds f WHERE f.era = e.id AND f.at > t AND f.at <= t + horizon)');
SELECT try($$SELECT gp_fit('found')$$);
INSERT INTO eras SELECT i, '2024-01-01', (ARRAY['2024-02-01', '2024-02-02', '4714-11-24 BC', '5874897-12-31', '-infinity'])[1 + i % 5]::date FROM generate_series(1, 100) AS i;
UPDATE eras SET began = due WHERE id <= 5;
INSERT INTO finds SELECT i, 1 + i % 90, timestamp '2024-03-01' + i * interval '1 hour' FROM generate_series(1, 500) AS i;
INSERT INTO finds VALUES (0, 99, '4714-11-24 BC', '4714-11-24 BC'), (-1, 98, '294276-12-31 23:59', '294276-12-31 23:59');
SELECT labelled > 100 FROM gp_fit('found', landmarks => 100);
SELECT gp_drop_graph('eras');
-- Of many rows a sample is looked at besides their times, be they in partitions
CREATE TABLE clicks (id integer, at timestamptz NOT NULL, kind integer) PARTITION BY RANGE (id);
CREATE TABLE clicks1 PARTITION OF clicks FOR VALUES FROM (1) TO (60001);
CREATE TABLE clicks2 PARTITION OF clicks FOR VALUES FROM (60001) TO (150001);
INSERT INTO clicks SELECT i, '2024-01-01'::timestamptz + i * interval '1 minute', i % 7 FROM generate_series(1, 150000) AS i;
ANALYZE clicks1;
ANALYZE clicks2;
SELECT gp_create_graph('clicks', tables => '{clicks}');
BEGIN;
SELECT col, columns FROM gp_columns('clicks') WHERE col = 'kind';
SELECT sum(seq_tup_read) < 200000 AS sampled FROM pg_stat_xact_user_tables WHERE relname ~ '^clicks';
COMMIT;
SELECT gp_drop_graph('clicks');
-- A list tells which rows of a table it has, of more than 50 the most frequent; live answers are the stored ones
CREATE TABLE tags (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE posts (id integer PRIMARY KEY, at timestamptz NOT NULL, liked boolean);
CREATE TABLE post_tags (post integer REFERENCES posts, tag integer REFERENCES tags, PRIMARY KEY (post, tag));
INSERT INTO tags SELECT i, 'tag ' || i FROM generate_series(0, 59) AS i;
INSERT INTO posts SELECT i, '2024-01-01'::timestamptz + i * interval '1 hour', hashint4(i) & 1 = 0 FROM generate_series(1, 600) AS i;
INSERT INTO post_tags SELECT DISTINCT id, 2 * (abs(hashint4(10 * id + k)) % 30) + liked::integer FROM posts, generate_series(1, 4) AS k;
UPDATE posts SET liked = NULL WHERE id > 500;
SELECT gp_create_graph('posts', tables => '{tags,posts,post_tags}');
SELECT col, note FROM gp_columns('posts') WHERE tab = 'post_tags'::regclass;
SELECT gp_create_task('liked', 'posts', 'posts.liked');
SELECT loo_score > 0.7 AS told FROM gp_fit('liked');
SELECT count(*) FROM gp_predict('liked', NULL::integer) AS s JOIN gp_predict_live('liked', ARRAY(SELECT id FROM posts WHERE id > 500)) AS l USING (node, class) WHERE abs(s.score - l.score) < 1e-4;
SELECT gp_drop_graph('liked'), gp_drop_graph('posts');
-- So does that of what a row refers to, be the named rows known since some time
ALTER TABLE tags ADD made date NOT NULL DEFAULT '2023-01-01';
CREATE TABLE replies (id integer PRIMARY KEY, post integer NOT NULL REFERENCES posts, at timestamptz NOT NULL, good boolean);
INSERT INTO replies SELECT id, id, at + interval '1 hour', CASE WHEN id <= 500 THEN hashint4(id) & 1 = 0 END FROM posts;
SELECT gp_create_graph('posts', tables => '{tags,posts,post_tags,replies}', exclude => '{posts.liked}');
SELECT gp_create_task('good', 'posts', 'replies.good');
SELECT loo_score > 0.7 AS told FROM gp_fit('good');
SELECT count(*) FROM gp_predict('good', NULL::integer) AS s JOIN gp_predict_live('good', ARRAY(SELECT id FROM replies WHERE id > 500)) AS l USING (node, class) WHERE abs(s.score - l.score) < 1e-4;
SELECT gp_drop_graph('good'), gp_drop_graph('posts');
DROP SCHEMA shapes CASCADE;
