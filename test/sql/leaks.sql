-- Columns that are written when the answer is known, and what else misleads a task, are named in a NOTICE
SET client_min_messages = warning;
CREATE SCHEMA leaks_test;
SET search_path = leaks_test, public;
SET timezone = 'UTC';
\getenv sources PG_ABS_SRCDIR
\set include :sources '/sql/include/try.sql'
\i :include
\pset format unaligned
\pset tuples_only on
SELECT setseed(0.25) IS NULL;
-- Customers order at a rate of their own until they leave; status and total are written at the end
CREATE TABLE customers (id integer PRIMARY KEY, joined_at timestamptz NOT NULL, region text, age integer, status text, total integer);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers, ordered_at timestamptz NOT NULL, amount real, won boolean);
CREATE TABLE c AS SELECT id, '2024-01-01'::timestamptz + random() * interval '60 days' AS joined, 6 + 8 * (id % 3) AS every,
    '2024-04-01'::timestamptz + random() * interval '500 days' AS leaves FROM generate_series(1, 250) AS id;
INSERT INTO customers SELECT id, joined, 'r' || id % 5, 20 + id % 47, CASE WHEN leaves < '2025-01-01' THEN 'gone' ELSE 'there' END FROM c;
INSERT INTO orders SELECT row_number() OVER (), id, at, random(), NULL
FROM (SELECT id, leaves, joined + (k + random()) * every * interval '1 day' AS at FROM c, generate_series(0, 61) AS k) AS o WHERE at < least(leaves, '2025-01-01');
UPDATE customers AS c SET total = (SELECT count(*) FROM orders AS o WHERE o.customer_id = c.id);
CREATE INDEX orders_at ON orders (customer_id, ordered_at);
UPDATE orders AS o SET won = EXISTS (SELECT FROM orders AS n WHERE n.customer_id = o.customer_id AND n.ordered_at > o.ordered_at AND n.ordered_at <= o.ordered_at + interval '10 days');
DROP INDEX orders_at;
RESET client_min_messages;
CREATE FUNCTION churn(task text, graph text) RETURNS void LANGUAGE sql AS $$
    SELECT gp_create_task(task, graph, entity => 'leaks_test.customers', horizon => '30 days',
        target => 'NOT EXISTS (SELECT FROM leaks_test.orders AS o WHERE o.customer_id = e.id AND o.ordered_at > t AND o.ordered_at <= t + horizon)',
        filter => 'EXISTS (SELECT FROM leaks_test.orders AS o WHERE o.customer_id = e.id AND o.ordered_at > t - interval ''60 days'' AND o.ordered_at <= t)') $$;
SELECT gp_create_graph('open', tables => '{customers,orders}', exclude => '{orders.won}');
SELECT churn('leaks', 'open');
SELECT loo_score > 0.2 AS too_good FROM gp_fit('leaks', landmarks => 100);
-- Honest columns are not named
SELECT gp_create_graph('closed', tables => '{customers,orders}', exclude => '{orders.won,customers.status,customers.total}');
SELECT churn('honest', 'closed');
SELECT labelled > 500 FROM gp_fit('honest', landmarks => 100);
-- The number of rows without a time, such as of talks with those who have left
CREATE TABLE talks (customer_id integer NOT NULL REFERENCES customers);
INSERT INTO talks SELECT id FROM customers WHERE status = 'gone' AND id % 7 < 5;
SELECT gp_create_graph('talks', tables => '{customers,orders,talks}', exclude => '{orders.won,customers.status,customers.total}');
SELECT churn('talked', 'talks');
SELECT labelled > 500 FROM gp_fit('talked', landmarks => 100);
-- Or such as of the lodgers of a room, where their number is the answer, be it values or many classes of few rows
CREATE TABLE rooms (id integer PRIMARY KEY, at timestamptz NOT NULL, taken integer);
CREATE TABLE lodgers (room integer NOT NULL REFERENCES rooms);
INSERT INTO rooms SELECT i, '2024-01-01'::timestamptz + i * interval '1 day', CASE WHEN i <= 400 THEN h + h * h / 4 END FROM generate_series(1, 410) AS i, LATERAL (SELECT (hashint4(i) & 65535) % 30 AS h) AS r;
INSERT INTO lodgers SELECT id FROM rooms, generate_series(1, coalesce(taken, 9));
SELECT gp_create_graph('rooms', tables => '{rooms,lodgers}');
SELECT gp_create_task('taken', 'rooms', target => 'rooms.taken');
\set VERBOSITY terse
SELECT task FROM gp_fit('taken', landmarks => 100);
SELECT task FROM gp_fit('taken', 'values', landmarks => 100, task => 'regression');
\set VERBOSITY default
-- The answer of a column task in another column of the row
ALTER TABLE orders ADD refund real;
UPDATE orders SET refund = amount WHERE won;
SELECT gp_create_graph('refunds', tables => '{customers,orders}', exclude => '{customers.status,customers.total}');
SELECT gp_create_task('won', 'refunds', target => 'orders.won');
SELECT loo_score > 0.8 FROM gp_fit('won', landmarks => 100);
-- No NOTICE names a column that the user knows to be written with its row
SELECT gp_alter_graph('refunds', times => '{"orders.refund": null}');
SELECT count(*) FROM gp_estimate('won');
-- What the owner's other rows were is a fact, but not the row of the same moment, which has the answer; half of it is habit
CREATE TABLE owners (id integer PRIMARY KEY);
CREATE TABLE twins (id integer PRIMARY KEY, owner_id integer REFERENCES owners, at timestamptz NOT NULL, y real);
INSERT INTO owners SELECT generate_series(1, 30);
INSERT INTO twins SELECT 2 * pair + twin, owner, '2020-01-01'::timestamptz + pair * interval '1 day', owner % 5 + 5 * luck
FROM (SELECT pair, 1 + pair * 7919 % 30 AS owner, random() AS luck FROM generate_series(1, 1000) AS pair) AS p, generate_series(0, 1) AS twin;
SELECT gp_create_graph('twins', tables => '{owners,twins}');
SELECT gp_create_task('y', 'twins', target => 'twins.y');
SELECT loo_score BETWEEN 0.38 AND 0.55 AS habit_alone FROM gp_fit('y', task => 'regression', landmarks => 100);
-- Beside who the owner is, earlier answers show a block of time that is left out in later rows: coins fall alike
CREATE TABLE coins (id integer PRIMARY KEY, owner_id integer NOT NULL REFERENCES owners, at timestamptz NOT NULL, y boolean);
INSERT INTO coins SELECT 30 * k + owner, owner, '2020-01-01'::timestamptz + k * interval '10 days', hashint4(30 * k + owner) > 0
FROM generate_series(1, 30) AS owner, generate_series(1, 30) AS k;
SELECT gp_create_graph('coins', tables => '{owners,coins}');
SELECT gp_create_task('coin', 'coins', target => 'coins.y');
SELECT loo_score < 0.03 AS blind FROM gp_fit('coin', landmarks => 100);
SELECT gp_drop_graph('coins');
-- Labels of a table, or of an expression, are facts of what shares a parent with their entity, one and two keys away
CREATE TABLE towns (id integer PRIMARY KEY);
CREATE TABLE keepers (id integer PRIMARY KEY, town_id integer NOT NULL REFERENCES towns);
CREATE TABLE pets (id integer PRIMARY KEY, keeper_id integer NOT NULL REFERENCES keepers);
CREATE TABLE tosses (pet_id integer NOT NULL REFERENCES pets, at timestamptz NOT NULL, coin boolean, kept boolean, shared boolean);
INSERT INTO towns SELECT generate_series(1, 6);
INSERT INTO keepers SELECT id, 1 + id % 6 FROM generate_series(1, 60) AS id;
INSERT INTO pets SELECT id, 1 + id % 60 FROM generate_series(1, 120) AS id;
INSERT INTO tosses SELECT p.id, '2020-01-01'::timestamptz + k * interval '10 days', hashint4(120 * k + p.id) > 0,
    hashint4(60 * ((k - 1) / 3) + keeper_id) > 0, hashint4(60 * ((k - 1) / 6) + town_id) > 0
FROM pets AS p JOIN keepers AS o ON o.id = keeper_id, generate_series(1, 30) AS k;
SELECT gp_create_graph('tosses', tables => '{towns,keepers,pets,tosses}', exclude => '{tosses.kept,tosses.shared}');
SELECT gp_create_task('thrown', 'tosses', 'pets', '(SELECT coin FROM tosses WHERE pet_id = e.id AND at > t AND at <= t + horizon)', horizon => '10 days');
INSERT INTO tosses SELECT id, '2020-11-06' FROM pets;
SELECT gp_create_graph('pets', tables => '{towns,keepers,pets}');
SELECT gp_create_task(y, 'pets', labels => 'tosses', entity => 'pet_id', target => y, time_column => 'at', horizon => h::interval)
FROM (VALUES ('coin', '10 days'), ('kept', '30 days'), ('shared', '10 days')) AS asked (y, h);
-- Coins tell nothing of others, nor do those of a month while it lasts; those of a town do
SELECT y, loo_score < 0.05 AS blind, loo_score > 0.6 AS told FROM unnest('{coin,kept,shared,thrown}'::text[]) AS y, gp_fit(y, landmarks => 100, live => true);
SELECT count(*) FROM gp_predict('shared', class => 'true') AS s JOIN gp_predict_live('shared', ARRAY(SELECT id FROM pets), class => 'true', as_of => '2020-11-06') AS l
USING (node) WHERE abs(s.score - l.score) < 1e-4;
SELECT relation FROM gp_explain('shared', 7, k => 100) WHERE relation LIKE 'earlier%' GROUP BY relation ORDER BY relation COLLATE "C";
SELECT gp_drop_graph('tosses');
SELECT gp_drop_graph('pets');
-- A view without a time shows the answers of its table, though no row lacks one
CREATE VIEW twin_answers AS SELECT id AS twin_id, y AS answer FROM twins;
SELECT gp_create_graph('twin_answers', tables => '{owners,twins,twin_answers}', keys => '{"twin_answers.twin_id": "twins.id"}');
SELECT gp_create_task('twin_y', 'twin_answers', target => 'twins.y');
SELECT loo_score < 0.55 AS habit_alone FROM gp_fit('twin_y', task => 'regression', landmarks => 100);
SELECT gp_drop_graph('twin_answers');
-- Where rows to predict are behind all answers, what tells no longer there does not count as if it did: a mood that lasts 25 days
UPDATE twins SET y = 5 * sin(1000 * (owner_id % 5 + id / 50));
SELECT loo_score > 0.5 AS fresh FROM gp_fit('y', task => 'regression', landmarks => 100);
SELECT relation FROM gp_explain('y', 2, k => 100) WHERE relation LIKE '%owner_id' GROUP BY relation ORDER BY relation COLLATE "C";
UPDATE twins SET y = NULL WHERE id > 1800;
SELECT loo_score < 0.4 AS old FROM gp_fit('y', 'behind', task => 'regression', landmarks => 100);
-- Labels are no facts of their own task, neither through a table between nor through rows that refer to them
CREATE TABLE accounts (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers, opened timestamptz NOT NULL, marks real[]);
INSERT INTO accounts SELECT id, id, joined_at, CASE WHEN joined_at < '2024-02-22' THEN ARRAY[id % 3, id % 5, id % 7] END FROM customers;
CREATE TABLE answers (id integer PRIMARY KEY, customer_id integer REFERENCES customers, account_id integer REFERENCES accounts, as_of timestamptz NOT NULL, churn boolean, lost real);
INSERT INTO answers SELECT row_number() OVER (), c.id, c.id, '2024-06-01'::timestamptz + k * interval '10 days', coin, 100 * coin::integer
FROM (SELECT id, random() < 0.5 AS coin FROM customers) AS c, generate_series(0, 5) AS k;
INSERT INTO answers VALUES (0, 1, 1, '2024-12-01');
CREATE TABLE remarks (account_id integer REFERENCES accounts, answer integer REFERENCES answers, at timestamptz NOT NULL);
INSERT INTO remarks SELECT account_id, id, as_of FROM answers WHERE id > 0;
SELECT gp_create_graph('asked', tables => '{customers,accounts,answers,remarks}', times => '{"answers": "as_of"}', exclude => '{customers.status,customers.total}');
SELECT gp_create_task('blind', 'asked', labels => 'answers', entity => 'customer_id', target => 'churn', time_column => 'as_of', horizon => '200 days');
SELECT labelled FROM gp_fit('blind', landmarks => 100);
SELECT count(*) > 2 AS some, count(*) FILTER (WHERE e::text ~ 'answer') AS answers FROM gp_explain('blind', 1) AS e;
-- Nor through a view of views of them, which is told
CREATE VIEW told AS SELECT account_id, as_of, lost FROM answers;
CREATE VIEW retold AS SELECT account_id, as_of AS at, lost FROM told UNION ALL SELECT id, opened, 0 FROM accounts;
SELECT gp_create_graph('retold', tables => '{customers,accounts,remarks,retold}', keys => '{"retold.account_id": "accounts.id"}', exclude => '{customers.status,customers.total}');
SELECT gp_create_task('deaf', 'retold', labels => 'answers', entity => 'customer_id', target => 'churn', time_column => 'as_of', horizon => '200 days');
SELECT DISTINCT encoding, note FROM gp_columns('deaf') WHERE tab = 'retold'::regclass;
SELECT labelled FROM gp_fit('deaf', landmarks => 100);
SELECT count(*) > 2 AS some, count(*) FILTER (WHERE e::text ~ 'retold') AS answers FROM gp_explain('deaf', 1) AS e;
-- Nor are they in the table that they are a view of, unless that is known with its row
CREATE VIEW shown AS SELECT t.customer_id, t.as_of AS at, t.churn AS y FROM (SELECT * FROM answers WHERE id > 0) AS t;
SELECT gp_alter_graph('asked', exclude => '{customers.status,customers.total,answers.lost}');
SELECT gp_create_task('shown', 'asked', labels => 'shown', entity => 'customer_id', target => 'y', time_column => 'at', horizon => '200 days');
SELECT tab, col, note FROM gp_columns('shown') WHERE note ~ 'answers of the task';
SELECT features AS without FROM gp_fit('shown', landmarks => 100) \gset
SELECT gp_alter_graph('asked', times => '{"answers": "as_of", "answers.churn": null}');
SELECT features > :without AS used FROM gp_fit('shown', replace => true, landmarks => 100);
-- A view without a time that gathers rows with times shows what comes later, unless the user says that it does not
CREATE MATERIALIZED VIEW habits AS SELECT customer_id, count(*) AS n, max(ordered_at) AS last FROM orders GROUP BY customer_id;
SELECT gp_create_graph('habits', tables => '{customers,orders,habits}', keys => '{"habits.customer_id": "customers.id"}', exclude => '{orders.won,orders.refund,customers.status,customers.total}');
SELECT relation, note FROM gp_relations('habits');
SELECT col, encoding, note FROM gp_columns('habits') WHERE tab = 'habits'::regclass;
SELECT churn('habitual', 'habits');
SELECT f.features = m.features AS unseen FROM gp_fit('habitual', landmarks => 100) AS f, gp_models AS m WHERE m.model = 'honest';
SELECT gp_alter_graph('habits', times => '{"habits": null}');
SELECT relation, note FROM gp_relations('habits');
SELECT col, encoding, note FROM gp_columns('habits') WHERE tab = 'habits'::regclass;
SELECT gp_create_task('x', 'habits', 'habits.n');
-- So does one that set operations choose rows for, except UNION ALL
CREATE VIEW loyal AS SELECT id, age FROM customers INTERSECT SELECT customer_id, 1 FROM orders;
CREATE VIEW either AS SELECT id, age FROM customers UNION ALL SELECT customer_id, 1 FROM orders;
SELECT gp_create_graph('sets', tables => '{customers,loyal,either}');
SELECT tab, encoding FROM gp_columns('sets') WHERE col = 'age';
SELECT gp_drop_graph('sets');
-- One of single rows shows what its tables show; as facts of others these need times
CREATE VIEW people AS SELECT c.id, c.age, a.marks FROM customers AS c JOIN accounts AS a USING (id);
CREATE VIEW bought AS SELECT customer_id, amount FROM orders;
SELECT gp_create_graph('single', tables => '{people,bought}', keys => '{"bought.customer_id": "people.id"}');
SELECT col, encoding FROM gp_columns('single');
CREATE OR REPLACE VIEW bought AS SELECT customer_id, amount, ordered_at FROM orders;
SELECT gp_alter_graph('single', times => '{"bought": "ordered_at"}');
SELECT col, encoding FROM gp_columns('single');
-- Facts of a day are known when it is over: at noon the answers that were written in the evening are not seen
CREATE TABLE evenings (account_id integer REFERENCES accounts, day date NOT NULL, told boolean);
UPDATE answers SET as_of = as_of + interval '12 hours', churn = random() < 0.5 WHERE id > 0;
INSERT INTO evenings SELECT account_id, as_of, churn FROM answers WHERE id > 0;
SELECT gp_create_graph('evenings', tables => '{customers,accounts,evenings}', exclude => '{customers.status,customers.total}');
SELECT gp_create_task('noon', 'evenings', labels => 'answers', entity => 'customer_id', target => 'churn', time_column => 'as_of', horizon => '200 days');
SELECT loo_score < 0.05 AS blind FROM gp_fit('noon', landmarks => 100);
-- Today's facts that are in the table are known now
SET client_min_messages = warning;
CREATE TEMP TABLE before AS SELECT probability FROM gp_predict_live('noon', 1);
BEGIN;
INSERT INTO evenings SELECT 1, current_date, true FROM generate_series(1, 9);
SELECT a.probability <> b.probability AS changed FROM gp_predict_live('noon', 1) AS a, before AS b;
ROLLBACK;
RESET client_min_messages;
-- As of the end of that day they are
SELECT gp_create_task('evening', 'evenings', entity => 'customers', horizon => '10 days',
    target => 'EXISTS (SELECT FROM leaks_test.evenings AS o WHERE o.account_id = e.id AND o.day > t AND o.day <= t + horizon AND o.told)');
SELECT max(as_of), count(DISTINCT as_of), count(*) FILTER (WHERE target = 'true') FROM gp_task_rows('evening') WHERE as_of > '2024-06-01';
SELECT count(*) FROM evenings WHERE told AND day > '2024-06-01';
-- What a task asks
SELECT graph, asks, horizon FROM gp_graphs WHERE graph = 'won' ORDER BY graph;
-- As-of times end with the facts: neither one late row moves them, nor an entity that is added long after the newest
-- fact, nor facts that the target does not read
CREATE FUNCTION ends(task text) RETURNS text LANGUAGE sql AS $$ SELECT (count(*) > 500)::text || ' ' || max(as_of)::date FROM gp_task_rows(task) $$;
SELECT ends('honest');
INSERT INTO customers VALUES (1000, '2026-02-01');
SELECT ends('honest');
INSERT INTO orders VALUES (1000000, 1, '2026-03-01');
SELECT ends('honest');
CREATE TABLE visits (customer_id integer REFERENCES customers, at timestamptz NOT NULL);
INSERT INTO visits SELECT 1 + k % 250, '2024-01-01'::timestamptz + k * interval '1 hour' FROM generate_series(0, 20000) AS k;
SELECT gp_alter_graph('closed', tables => '{customers,orders,visits}');
SELECT ends('honest');
-- They begin with the rows that the target reads: nobody recorded what happened before
UPDATE visits SET at = at - interval '3 years';
SELECT min(as_of) >= (SELECT min(ordered_at) FROM orders) AS recorded FROM gp_task_rows('honest');
-- A date that stands for unknown ones does not spread them over empty decades, unless the user says so
INSERT INTO orders SELECT 2000000 + k, k, '1950-01-01' FROM generate_series(1, 20) AS k;
SELECT min(as_of) > '2024-01-01' AS recorded FROM gp_task_rows('honest');
DELETE FROM orders WHERE ordered_at < '1951-01-01';
-- Few facts: none of them stands alone
CREATE TABLE calls (customer_id integer REFERENCES customers, at timestamptz NOT NULL);
INSERT INTO calls SELECT k, '2024-01-01'::timestamptz + k * interval '30 days' FROM generate_series(1, 10) AS k;
SELECT gp_create_graph('few', tables => '{customers,calls}');
SELECT gp_create_task('called', 'few', entity => 'customers', horizon => '10 days',
    target => 'EXISTS (SELECT FROM leaks_test.calls AS o WHERE o.customer_id = e.id AND o.at > t AND o.at <= t + horizon)');
SELECT max(as_of)::date FROM gp_task_rows('called');
-- Nor do ten of one time, of each month
TRUNCATE calls;
INSERT INTO calls SELECT c, '2024-01-01'::timestamptz + k * interval '30 days' FROM generate_series(1, 10) AS c, generate_series(0, 11) AS k;
SELECT max(as_of)::date FROM gp_task_rows('called');
DROP TABLE calls;
SELECT gp_fit('called');
-- Windows that cannot be
SELECT try($$SELECT gp_create_task('mixed', 'closed', entity => 'customers', target => 'true', horizon => '1 month -3 days')$$);
SELECT try($$SELECT gp_create_task('mixed', 'closed', entity => 'customers', target => 'true', horizon => '3 days', every => '1 month -30 days')$$);
SELECT gp_create_task('long', 'closed', entity => 'customers', target => 'e.id > 3', horizon => '20 years');
SELECT try($$SELECT gp_fit('long')$$);
CREATE TABLE asked (customer_id integer REFERENCES customers, late boolean, y integer);
SELECT try($$SELECT gp_create_task('late', 'closed', labels => 'asked', entity => 'customer_id', target => 'y', time_column => 'late')$$);
-- Labels as of times that are none, or have not come
CREATE TABLE marks (customer_id integer REFERENCES customers, at timestamptz, y integer);
INSERT INTO marks SELECT 1 + k % 250, CASE k WHEN 1 THEN '-infinity' WHEN 2 THEN 'infinity' WHEN 3 THEN NULL WHEN 4 THEN now() + interval '9 days'
    ELSE '2024-03-01'::timestamptz + k * interval '1 hour' END, k % 2 FROM generate_series(1, 1000) AS k;
INSERT INTO marks VALUES (1, now() + interval '9 days', NULL);
SELECT gp_create_task('marks', 'closed', labels => 'marks', entity => 'customer_id', target => 'y', time_column => 'at', horizon => '1 day');
SELECT count(*), max(as_of) < now() AS known FROM gp_task_rows('marks');
-- What is written with the answer, which rows to predict lack: children without a time, and a column
CREATE TABLE bookings (id integer PRIMARY KEY, at timestamptz NOT NULL, held boolean, minutes integer NOT NULL);
CREATE TABLE notes (booking integer REFERENCES bookings, line integer, PRIMARY KEY (booking, line));
INSERT INTO bookings SELECT id, '2024-01-01'::timestamptz + id * interval '1 hour', CASE WHEN id <= 700 THEN held END, CASE WHEN id <= 700 AND held AND id % 4 > 0 THEN 20 + id % 7 ELSE 0 END
FROM (SELECT id, random() < 0.7 AS held FROM generate_series(1, 760) AS id) AS b;
INSERT INTO notes SELECT id, 1 FROM bookings WHERE held AND id % 3 > 0;
SELECT gp_create_graph('bookings', tables => '{bookings,notes}');
SELECT gp_create_task('held', 'bookings', target => 'bookings.held');
SELECT loo_score < 0.05 AS honest FROM gp_fit('held', landmarks => 100);
-- Live answers do without them, too
SET client_min_messages = warning;
CREATE TEMP TABLE lacking AS SELECT probability FROM gp_predict_live('held', 760, class => 'true');
INSERT INTO notes VALUES (760, 1);
SELECT a.probability = b.probability AS same FROM gp_predict_live('held', 760, class => 'true') AS a, lacking AS b;
RESET client_min_messages;
-- Unless the user knows better
SELECT gp_alter_graph('bookings', times => '{"bookings.minutes": null, "notes.booking": null}');
SELECT loo_score > 0.2 AS told FROM gp_fit('held', landmarks => 100);
-- Of answers that are missing at random nothing is left out; a column that tells much is named, without facts too
SELECT gp_alter_graph('bookings', tables => '{bookings}', times => '{}');
UPDATE bookings SET held = CASE WHEN id % 10 > 0 THEN minutes > 0 OR id % 8 > 3 END;
SELECT loo_score > 0.2 AS told FROM gp_fit('held', landmarks => 100);
-- No NOTICE names a key whose many categories differ by chance in the few rows that there are
CREATE TABLE parties (id integer PRIMARY KEY, at timestamptz NOT NULL, agent integer, rare boolean);
INSERT INTO parties SELECT i, '2024-01-01'::timestamptz + i * interval '1 hour', (hashint4(i) & 65535) % 25, (hashint4(i + 5000) & 65535) % 12 = 0 FROM generate_series(1, 500) AS i;
SELECT gp_create_graph('parties', tables => '{parties}');
SELECT gp_create_task('rare', 'parties', target => 'parties.rare');
SELECT count(DISTINCT agent), count(*) FILTER (WHERE rare) AS positives FROM parties;
SELECT labelled FROM gp_fit('rare', landmarks => 100);
SELECT gp_drop_graph('parties');
-- What rows come to refer to later is not seen, nor that they do by their absence
CREATE TABLE claims (id integer PRIMARY KEY, at timestamptz NOT NULL);
CREATE TABLE sales (id integer PRIMARY KEY, account_id integer REFERENCES accounts, at timestamptz NOT NULL, claim integer REFERENCES claims,
    back boolean, fee real GENERATED ALWAYS AS (3 * back::integer + id % 4) STORED);
INSERT INTO sales SELECT id, 1 + id % 7, '2024-03-01'::timestamptz + id * interval '1 hour', NULL, random() < 0.5 FROM generate_series(1, 1000) AS id;
INSERT INTO claims SELECT id, at + interval '2 days' FROM sales WHERE back;
UPDATE sales SET claim = id WHERE back;
SELECT gp_create_graph('sales', tables => '{accounts,sales,claims}', exclude => '{sales.back,sales.fee}');
SELECT gp_create_task('claimed', 'sales', entity => 'sales', horizon => '3 days', every => '1 hour', filter => 'e.at > t - interval ''1 hour''',
    target => 'EXISTS (SELECT FROM leaks_test.claims AS o WHERE o.id = e.claim AND o.at > t AND o.at <= t + horizon)');
SELECT loo_score < 0.05 AS blind FROM gp_fit('claimed', landmarks => 100);
-- Nor by a key that is excluded, nor is what is computed from the answer
SELECT gp_alter_graph('sales', exclude => '{sales.claim}');
SELECT relation, note FROM gp_relations('sales');
SELECT gp_create_task('back', 'sales', target => 'sales.back');
SELECT loo_score < 0.05 AS blind FROM gp_fit('back', landmarks => 100);
-- Rows without a time that come to refer to what is later do not show it by their number
CREATE TABLE parcels (sale integer NOT NULL REFERENCES sales, claim integer REFERENCES claims);
INSERT INTO parcels SELECT id, claim FROM sales;
SELECT gp_alter_graph('sales', tables => '{sales,claims,parcels}', exclude => '{sales.back,sales.fee,sales.claim}');
SELECT loo_score < 0.05 AS blind FROM gp_fit('claimed', 'parcels', landmarks => 100);
SELECT gp_alter_graph('sales', exclude => '{sales.back,sales.fee,sales.claim,parcels.claim}');
SELECT loo_score < 0.05 AS blind FROM gp_fit('claimed', 'parcels', replace => true, landmarks => 100);
-- The one key that says since when they are known is not excluded
SELECT try($$SELECT gp_alter_graph('sales', exclude => '{sales.back,sales.fee,sales.claim,parcels.claim,parcels.sale}')$$);
-- Nor is what is computed from the same as the answer
ALTER TABLE sales ADD twice integer GENERATED ALWAYS AS (2 * back::integer) STORED;
SELECT gp_alter_graph('sales', exclude => '{sales.claim,parcels.claim}');
SELECT gp_create_task('fee', 'sales', target => 'sales.fee');
SELECT loo_score < 0.05 AS blind FROM gp_fit('fee', landmarks => 100);
-- Of a row's children those count, too, that come to refer to what is later
CREATE TABLE buyers (id integer PRIMARY KEY);
CREATE TABLE purchases (id integer PRIMARY KEY, at timestamptz NOT NULL, buyer integer REFERENCES buyers);
CREATE TABLE items (purchase integer REFERENCES purchases, claim integer REFERENCES claims, price real);
INSERT INTO buyers SELECT generate_series(1, 150);
INSERT INTO purchases SELECT i, '2024-03-01'::timestamptz + (1 + i % 150) * interval '1 minute' + i / 150 * interval '9 days', 1 + i % 150 FROM generate_series(0, 1199) i;
INSERT INTO claims SELECT 10000 + id, at + interval '9 days' FROM purchases WHERE random() < 0.5;
INSERT INTO items SELECT p.id, c.id, 1 FROM purchases p LEFT JOIN claims c ON c.id = 10000 + p.id;
SELECT gp_create_graph('items', tables => '{buyers,purchases,items,claims}');
SELECT gp_create_task('returned', 'items', 'buyers', horizon => '3 days', every => '9 days',
    target => 'EXISTS (SELECT FROM leaks_test.purchases p JOIN leaks_test.claims c ON c.id = 10000 + p.id WHERE p.buyer = e.id AND c.at > t AND c.at <= t + horizon)');
SELECT loo_score < 0.05 AS blind FROM gp_fit('returned', landmarks => 100);
-- Rows without a time that wait for more children do not show them by their absence
CREATE TABLE baskets (id integer PRIMARY KEY, buyer integer NOT NULL REFERENCES buyers, size integer);
CREATE TABLE lines (basket integer REFERENCES baskets, claim integer REFERENCES claims);
INSERT INTO baskets SELECT 8 * b + k, b, (b + k) % 3 FROM generate_series(1, 150) b, generate_series(0, 7) k;
INSERT INTO claims SELECT 100000 + 2 * id, '2024-01-01'::timestamptz + random() * interval '2000 days' FROM baskets;
INSERT INTO claims SELECT id + 1, at + (1 + 30 * random()) * interval '1 day' FROM claims WHERE id >= 100000 AND random() < 0.5;
INSERT INTO lines SELECT (id - 100000) / 2, id FROM claims WHERE id >= 100000;
SELECT gp_create_graph('baskets', tables => '{buyers,baskets,lines,claims}');
SELECT gp_create_task('more', 'baskets', 'buyers', horizon => '31 days', every => '3 days',
    filter => 'EXISTS (SELECT FROM leaks_test.baskets b JOIN leaks_test.claims c ON c.id = 100000 + 2 * b.id WHERE b.buyer = e.id AND c.at <= t AND c.at > t - interval ''3 days'')',
    target => 'EXISTS (SELECT FROM leaks_test.baskets b JOIN leaks_test.claims c ON c.id = 100001 + 2 * b.id WHERE b.buyer = e.id AND c.at > t AND c.at <= t + horizon)');
SELECT loo_score < 0.1 AS blind FROM gp_fit('more', landmarks => 100);
-- Nor those whose children refer to more tables than are read with them, or to what is later far above them
CREATE TABLE hues (id integer PRIMARY KEY);
INSERT INTO hues SELECT generate_series(1, 3);
SELECT format('CREATE TABLE dyes (basket integer REFERENCES baskets, %s, claim integer REFERENCES claims)', string_agg(format('h%s integer REFERENCES hues', i), ', ')) FROM generate_series(1, 40) AS i \gexec
INSERT INTO dyes (basket, h1, claim) SELECT basket, 1 + basket % 3, claim FROM lines;
CREATE TABLE files (id integer PRIMARY KEY, claim integer REFERENCES claims);
CREATE TABLE folders (id integer PRIMARY KEY, file integer REFERENCES files);
CREATE TABLE papers (basket integer REFERENCES baskets, folder integer REFERENCES folders);
INSERT INTO files SELECT id, id FROM claims WHERE id >= 100000;
INSERT INTO folders SELECT id, id FROM files;
INSERT INTO papers SELECT basket, claim FROM lines;
SELECT gp_alter_graph('baskets', tables => '{buyers,baskets,dyes,hues,claims}');
SELECT loo_score < 0.1 AS blind FROM gp_fit('more', 'dyes', landmarks => 100);
SELECT gp_alter_graph('baskets', tables => '{buyers,baskets,papers,folders,files,claims}');
SELECT loo_score < 0.1 AS blind FROM gp_fit('more', 'papers', landmarks => 100);
-- Nor rows without a time that come to refer to later ones, in part beside others, unless the user says that they do so at once
CREATE TABLE guests (id integer PRIMARY KEY);
CREATE TABLE moves (id integer PRIMARY KEY, at timestamptz NOT NULL);
CREATE TABLE seats (guest integer NOT NULL REFERENCES guests, sold integer REFERENCES moves, freed integer REFERENCES moves);
INSERT INTO guests SELECT generate_series(1, 150);
INSERT INTO moves VALUES (0, '2024-01-01');
INSERT INTO moves SELECT i, '2024-01-05'::timestamptz + (hashint4(i + 1000) & 1023) * interval '5 hours' FROM generate_series(1, 600) AS i WHERE hashint4(i) > 0;
INSERT INTO seats SELECT 1 + i % 150, 0, id FROM generate_series(1, 600) AS i LEFT JOIN moves ON id = i;
SELECT gp_create_graph('seats', tables => '{guests,seats,moves}');
SELECT gp_create_task('freed', 'seats', 'guests', horizon => '50 days', every => '25 days', since => '2024-01-06',
    target => 'EXISTS (SELECT FROM leaks_test.seats s JOIN leaks_test.moves m ON m.id = s.freed WHERE s.guest = e.id AND m.at > t AND m.at <= t + horizon)');
SELECT loo_score < 0.05 AS blind FROM gp_fit('freed', landmarks => 100);
SELECT gp_alter_graph('seats', times => '{"seats.freed": null}');
SELECT loo_score > 0.1 AS told FROM gp_fit('freed', replace => true, landmarks => 100);
-- Where what some lack was there before the rest of what they refer to, they are kept
UPDATE seats SET sold = coalesce(freed, 0), freed = CASE WHEN guest % 2 = 0 THEN 0 END;
SELECT gp_alter_graph('seats', times => '{}');
SELECT gp_alter_task('freed', target => 'EXISTS (SELECT FROM leaks_test.seats s JOIN leaks_test.moves m ON m.id = s.sold WHERE s.guest = e.id AND m.at > t AND m.at <= t + horizon)');
SELECT facts > 500 AS kept FROM gp_fit('freed', replace => true, landmarks => 100);
-- Nor does what counts or adds up the rows that refer to it, whenever they come, unless the user says that it is known
CREATE TABLE jobs (id integer PRIMARY KEY, posted timestamptz NOT NULL, pay real, applicants integer, fees numeric, latest date);
CREATE TABLE applications (job integer NOT NULL REFERENCES jobs, at timestamptz NOT NULL, fee real);
INSERT INTO jobs SELECT i, '2024-01-01'::timestamptz + i * interval '8 hours', random() FROM generate_series(1, 600) i;
INSERT INTO applications SELECT id, posted + (k > 2)::integer * interval '20 days' + random() * interval '3 days', k
FROM jobs, generate_series(1, 5) k WHERE CASE WHEN k <= 2 THEN k <= 1 + id % 2 ELSE hashint4(id) > 0 AND k <= 3 + id % 3 END;
UPDATE jobs SET (applicants, fees, latest) = (SELECT count(*), sum(fee), max(at) FROM applications WHERE job = id);
SELECT gp_create_graph('jobs', tables => '{jobs,applications}', times => '{"jobs": "posted"}');
SELECT gp_create_task('wanted', 'jobs', 'jobs', horizon => '14 days', every => '4 days', filter => 't BETWEEN e.posted + interval ''5 days'' AND e.posted + interval ''18 days''',
    target => 'EXISTS (SELECT FROM leaks_test.applications a WHERE a.job = e.id AND a.at > t AND a.at <= t + horizon)');
SELECT loo_score < 0.1 AS blind FROM gp_fit('wanted', landmarks => 100);
SELECT col, encoding, note FROM gp_columns('jobs') WHERE tab = 'jobs'::regclass;
SELECT gp_alter_graph('jobs', times => '{"jobs": "posted", "jobs.applicants": null}');
SELECT loo_score > 0.5 AS told FROM gp_fit('wanted', replace => true, landmarks => 100);
-- A number that was known with its row is kept, although later rows refer to it, too
UPDATE jobs SET applicants = (SELECT count(*) FROM applications WHERE job = id AND at < posted + interval '4 days'), fees = id % 7, latest = posted;
SELECT gp_alter_graph('jobs', times => '{"jobs": "posted"}');
SELECT col, encoding, note FROM gp_columns('jobs') WHERE tab = 'jobs'::regclass;
-- So is one that later rows copy or add up to in the end: rows without any have it, too.  What is paid of it is not
CREATE TABLE dues (id integer PRIMARY KEY, at date NOT NULL, due numeric, rates integer, paid numeric);
CREATE TABLE settled (dues integer NOT NULL REFERENCES dues, at timestamptz NOT NULL, paid numeric);
INSERT INTO dues SELECT i, date '2024-01-01' + i, 1 + hashint4(i) & 1023, 1 + i % 4 / 3 FROM generate_series(1, 600) AS i;
INSERT INTO settled SELECT id, at + k * interval '20 days', due / rates FROM dues, generate_series(1, 2) AS k WHERE k <= rates AND id <= 560;
UPDATE dues SET paid = coalesce((SELECT sum(paid) FROM settled WHERE dues = id), 0);
SELECT gp_create_graph('dues', tables => '{dues,settled}');
SELECT col, encoding FROM gp_columns('dues') WHERE tab = 'dues'::regclass;
-- Rows of the day of their row are not later
DELETE FROM dues WHERE id > 560;
UPDATE settled SET at = dues.at + interval '9 hours' FROM dues WHERE id = dues;
SELECT encoding FROM gp_columns('dues') WHERE col = 'paid' AND tab = 'dues'::regclass;
-- Nor what adds up a part of the rows two tables away, nor a status that changes when none came for a while
CREATE TABLE members (id integer PRIMARY KEY, points integer, rating numeric, level text);
CREATE TABLE badges (id integer PRIMARY KEY, member integer NOT NULL REFERENCES members);
CREATE TABLE stays (badge integer NOT NULL REFERENCES badges, at timestamptz NOT NULL, hours integer);
INSERT INTO members SELECT generate_series(1, 400);
INSERT INTO badges SELECT id, id FROM members;
INSERT INTO stays SELECT id, day, id % 5 * 9 + (hashint4(id + 1000 * k) & 15) FROM members, generate_series(0, 120) AS k,
    LATERAL (SELECT '2024-01-01'::timestamptz + (id % 3 + 3 * k) * interval '1 day' AS day) AS d WHERE id <= 360 AND day <= '2024-02-01'::timestamptz + (hashint4(id) & 511) * interval '1 day';
UPDATE members AS m SET (points, rating, level) = (SELECT coalesce(floor(sum(hours) / 10), 0), round(avg(hours), 1), CASE WHEN max(at) < '2024-10-01' THEN 'lapsed' WHEN count(*) > 90 THEN 'gold' ELSE 'basic' END FROM stays WHERE badge = m.id);
SELECT gp_create_graph('members', tables => '{members,badges,stays}');
SELECT gp_create_task('lapses', 'members', 'members', horizon => '60 days', every => '30 days', filter => 'EXISTS (SELECT FROM leaks_test.stays s WHERE s.badge = e.id AND s.at > t - interval ''3 days'' AND s.at <= t)',
    target => 'NOT EXISTS (SELECT FROM leaks_test.stays s WHERE s.badge = e.id AND s.at > t + horizon - interval ''3 days'' AND s.at <= t + horizon)');
SELECT loo_score < 0.1 AS blind FROM gp_fit('lapses', landmarks => 100);
SELECT col, encoding FROM gp_columns('members') WHERE tab = 'members'::regclass;
-- Nor does a tier of how many rows of some kind came lately, whatever their sums are; what drives the number of rows, however exactly, is kept
CREATE TABLE wards (id integer PRIMARY KEY, risk text, rhythm text);
CREATE TABLE alarms (ward integer NOT NULL REFERENCES wards, at timestamptz NOT NULL, kind text, load double precision DEFAULT 1e308);
INSERT INTO wards SELECT i, NULL, CASE WHEN i % 2 = 0 THEN 'weekly' ELSE 'fortnightly' END FROM generate_series(1, 300) AS i;
INSERT INTO alarms SELECT id, '2024-01-01'::timestamptz + day * interval '1 day', CASE WHEN hashint4(1000 * id + day) % 3 = 0 THEN 'urgent' ELSE 'test' END
FROM wards, LATERAL generate_series(id % 14, 420, CASE rhythm WHEN 'weekly' THEN 7 ELSE 14 END) AS day;
UPDATE wards AS w SET risk = (SELECT CASE WHEN count(*) > 6 THEN 'high' WHEN count(*) > 3 THEN 'some' ELSE 'low' END FROM alarms WHERE ward = w.id AND kind = 'urgent' AND at > '2024-08-26');
SELECT gp_create_graph('guarded', tables => '{wards,alarms}');
SELECT gp_create_task('urgent', 'guarded', 'wards', horizon => '28 days', every => '14 days', since => '2024-09-01',
    target => '(SELECT count(*) FROM leaks_test.alarms a WHERE a.ward = e.id AND a.kind = ''urgent'' AND a.at > t AND a.at <= t + horizon) / (SELECT 1.0 * count(*) FROM leaks_test.alarms a WHERE a.ward = e.id AND a.at > t AND a.at <= t + horizon)');
SELECT loo_score < 0.05 AS blind FROM gp_fit('urgent', landmarks => 100);
SELECT col, encoding FROM gp_columns('guarded') WHERE tab = 'wards'::regclass;
-- A time that was booked is not that of the row which came of it
CREATE TABLE booked (id integer PRIMARY KEY, at timestamptz NOT NULL, planned timestamptz NOT NULL);
CREATE TABLE visited (booking integer NOT NULL REFERENCES booked, at timestamptz NOT NULL);
INSERT INTO booked SELECT i, '2024-01-01'::timestamptz + i * interval '8 hours', '2024-01-11'::timestamptz + i * interval '8 hours' FROM generate_series(1, 300) AS i;
INSERT INTO visited SELECT id, planned FROM booked WHERE id % 4 > 0 AND id < 270;
SELECT gp_create_graph('visited', tables => '{booked,visited}', times => '{"booked": "at"}');
SELECT note FROM gp_columns('visited') WHERE col = 'planned';
-- What says when all rows came, or at whose rows all ended at once, is kept
CREATE TABLE sensors (id integer PRIMARY KEY, series text, site text);
CREATE TABLE readings (sensor integer NOT NULL REFERENCES sensors, at timestamptz NOT NULL);
INSERT INTO sensors SELECT i, CASE WHEN i <= 60 THEN 'old' ELSE 'new' END FROM generate_series(1, 120) AS i;
INSERT INTO readings SELECT id, '2024-01-01'::timestamptz + (3 * id + 5 * k) * interval '1 day' FROM sensors, generate_series(0, 9) AS k;
INSERT INTO sensors SELECT i, NULL, CASE WHEN i <= 160 THEN 'shut' ELSE 'open' END FROM generate_series(121, 240) AS i;
SELECT gp_create_graph('sensors', tables => '{sensors,readings}');
SELECT col, encoding FROM gp_columns('sensors') WHERE tab = 'sensors'::regclass;
DELETE FROM readings;
INSERT INTO readings SELECT id, '2024-01-01'::timestamptz + ((hashint4(id) & 63) + 5 * k) * interval '1 day' FROM sensors, generate_series(0, 100) AS k WHERE id > 120 AND (hashint4(id) & 63) + 5 * k <= CASE site WHEN 'shut' THEN 200 ELSE 400 END + id % 3;
SELECT col, encoding FROM gp_columns('sensors') WHERE tab = 'sensors'::regclass;
-- What is the same in all rows is no mean of theirs
CREATE TABLE wares (id integer PRIMARY KEY, price numeric);
CREATE TABLE sold (ware integer NOT NULL REFERENCES wares, at timestamptz NOT NULL, price numeric);
INSERT INTO wares SELECT i, 1 + hashint4(i) & 1023 FROM generate_series(1, 100) AS i;
INSERT INTO sold SELECT id, '2024-01-01'::timestamptz + k * interval '1 day', price FROM wares, generate_series(1, 4) AS k WHERE k <= 2 + id % 3;
SELECT gp_create_graph('wares', tables => '{wares,sold}');
SELECT encoding FROM gp_columns('wares') WHERE col = 'price' AND tab = 'wares'::regclass;
-- Rows that are left out, as they are written with the answer, do not count beside other facts either
-- Nor does a flag that few have, where many rows lack it; one that few have in the end, and none now, is kept
CREATE TABLE loans (id integer PRIMARY KEY, at date NOT NULL, granted boolean, cosigned boolean, by_phone boolean);
CREATE TABLE payouts (loan integer REFERENCES loans, customer integer REFERENCES customers);
CREATE TABLE calls (loan integer REFERENCES loans, at date NOT NULL);
INSERT INTO loans SELECT i, date '2025-01-01' + i / 4, CASE WHEN i <= 1500 THEN random() < 0.5 END, false, hashint4(i) & 127 < CASE WHEN i <= 800 THEN 77 WHEN i <= 1500 THEN 19 ELSE 0 END FROM generate_series(1, 1650) i;
UPDATE loans SET cosigned = true WHERE granted AND hashint4(id + 5000) & 7 < 3;
INSERT INTO payouts SELECT id, 1 + id % 250 FROM loans WHERE granted;
INSERT INTO calls SELECT id, at - id % 20 FROM loans WHERE id % 3 > 0;
SELECT gp_create_graph('loans', tables => '{customers,loans,payouts,calls}', exclude => '{customers.status,customers.total}');
SELECT gp_create_task('granted', 'loans', target => 'loans.granted');
SELECT loo_score < 0.05 AS blind FROM gp_fit('granted', landmarks => 100);
-- Nor does a status that is written again, unless the user says that it is known, and a filter of it is named; what comes and goes is no status
CREATE TABLE bids (id integer PRIMARY KEY, job integer NOT NULL REFERENCES jobs, at timestamptz NOT NULL, round text, state text, stage text);
CREATE TABLE orders_won (job integer NOT NULL REFERENCES jobs, at timestamptz NOT NULL);
INSERT INTO bids SELECT id, id, posted + interval '1 day', 'round ' || id / 50, CASE WHEN hashint4(id) > 0 THEN 'won' ELSE 'lost' END FROM jobs;
INSERT INTO orders_won SELECT id, at + (5 + (hashint4(id + 5000) & 15)) * interval '1 day' FROM bids WHERE state = 'won';
UPDATE bids SET state = 'open' WHERE at + (5 + (hashint4(id + 5000) & 15)) * interval '1 day' > '2024-07-20';
DELETE FROM orders_won WHERE at > '2024-07-20';
-- One of two stages
UPDATE bids SET stage = CASE WHEN state <> 'open' THEN state WHEN at + (2 + (hashint4(id + 7000) & 3)) * interval '1 day' > '2024-07-20' THEN 'new' ELSE 'in review' END;
ALTER TABLE bids ADD closed_at timestamptz;
SELECT gp_create_graph('bids', tables => '{jobs,bids,orders_won}', times => '{"jobs": "posted"}', exclude => '{jobs.applicants,jobs.fees,jobs.latest}');
SELECT gp_create_task('win', 'bids', 'jobs', horizon => '30 days', every => '4 days', filter => 't BETWEEN e.posted + interval ''2 days'' AND e.posted + interval ''5 days''
        AND EXISTS (SELECT * FROM leaks_test.bids b WHERE b.job = e.id AND b.state <> '''' AND (b.closed_at IS NULL OR b.closed_at > t))',
    target => 'EXISTS (SELECT FROM leaks_test.orders_won w WHERE w.job = e.id AND w.at > t AND w.at <= t + horizon)');
SELECT loo_score < 0.05 AS blind FROM gp_fit('win', landmarks => 100);
SELECT col, encoding, note FROM gp_columns('bids') WHERE tab = 'bids'::regclass;
SELECT gp_alter_graph('bids', times => '{"jobs": "posted", "bids.state": null}');
-- A time that the filter does not compare with t is one of today
SELECT gp_alter_task('win', filter => 't BETWEEN e.posted + interval ''2 days'' AND e.posted + interval ''5 days''
    AND EXISTS (SELECT * FROM leaks_test.bids b WHERE b.job = e.id AND b.state <> '''' AND b.closed_at IS NULL)');
SELECT loo_score > 0.5 AS told FROM gp_fit('win', landmarks => 100, replace => true);
-- A key that is NULL in the newest rows alone is named: who closes a ticket tells how it ended
CREATE TABLE agents (id integer PRIMARY KEY, senior boolean);
CREATE TABLE tickets (id integer PRIMARY KEY, at timestamptz NOT NULL, agent integer REFERENCES agents, author integer REFERENCES agents);
CREATE TABLE escalations (ticket integer NOT NULL REFERENCES tickets, at timestamptz NOT NULL);
INSERT INTO agents SELECT i, i > 3 FROM generate_series(1, 6) AS i;
INSERT INTO tickets SELECT i, '2024-01-01'::timestamptz + i * interval '3 hours', CASE WHEN i <= 560 THEN 1 + i % 3 + 3 * (hashint4(i) & 1) END, CASE WHEN i % 3 = 0 THEN 1 + i % 6 END FROM generate_series(1, 600) AS i;
INSERT INTO escalations SELECT id, at + interval '2 days' FROM tickets WHERE hashint4(id) & 1 = 1;
CREATE INDEX ON escalations (ticket, at);
SELECT gp_create_graph('tickets', tables => '{agents,tickets,escalations}');
SELECT gp_create_task('escalates', 'tickets', 'tickets', horizon => '3 days', every => '3 hours', filter => 'e.at > t - interval ''3 hours''',
    target => 'EXISTS (SELECT FROM leaks_test.escalations x WHERE x.ticket = e.id AND x.at > t AND x.at <= t + horizon)');
SELECT loo_score > 0.5 AS told FROM gp_fit('escalates', landmarks => 100);
SELECT gp_alter_graph('tickets', exclude => '{tickets.agent}');
SELECT loo_score < 0.05 AS blind FROM gp_fit('escalates', replace => true, landmarks => 100);
-- Nothing that may be read
CREATE ROLE leaks_reader;
GRANT USAGE ON SCHEMA leaks_test TO leaks_reader;
SET ROLE leaks_reader;
SELECT try($$SELECT gp_create_graph('nothing', tables => '{leaks_test.customers,leaks_test.orders}')$$);
-- All but the time: rows without it would be known always
RESET ROLE;
GRANT SELECT (id, customer_id, amount) ON orders TO leaks_reader;
GRANT SELECT ON customers TO leaks_reader;
SET ROLE leaks_reader;
SELECT gp_create_graph('timeless', tables => '{leaks_test.customers,leaks_test.orders}');
RESET ROLE;
SET client_min_messages = warning;
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE graph IN ('open', 'rooms', 'talks', 'closed', 'refunds', 'bookings', 'asked', 'few', 'twins', 'evenings', 'retold', 'habits', 'single', 'sales', 'items', 'baskets', 'loans', 'jobs', 'bids', 'seats', 'dues', 'wares', 'members', 'sensors', 'tickets', 'guarded', 'visited');
DROP SCHEMA leaks_test CASCADE;
DROP OWNED BY leaks_reader;
DROP ROLE leaks_reader;
