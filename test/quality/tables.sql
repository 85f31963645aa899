-- A task of Formula 1, fitted on the rows before 2005 and asked about those from 2010 on, each as of its own time by
-- facts up to then: the AUROC, or the mean absolute error of a value.  Variables: task, horizon, and stale, which is
-- true where nothing after 2010-01-01 is known.
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS f1_quality CASCADE;
CREATE SCHEMA f1_quality;
SET search_path = f1_quality, public;
SELECT gp_drop_graph(graph) FROM gp_graphs WHERE graph = 'f1_quality';
SELECT format('CREATE %s %I AS SELECT * FROM f1.%I %s', CASE WHEN :'stale'::boolean THEN 'TABLE' ELSE 'VIEW' END, t, t,
              CASE WHEN :'stale'::boolean AND t NOT IN ('circuits', 'drivers', 'constructors') THEN 'WHERE date < ''2010-01-01''' END)
FROM unnest('{circuits,drivers,constructors,races,results,standings,qualifying}'::text[]) AS t \gexec
SELECT gp_create_graph('f1_quality', tables => '{circuits,drivers,constructors,races,results,standings,qualifying}',
    times => '{"races": "date", "results": "date", "standings": "date", "qualifying": "date"}',
    keys => '{"races.circuit_id": "circuits.circuit_id", "results.race_id": "races.race_id", "results.driver_id": "drivers.driver_id",
              "results.constructor_id": "constructors.constructor_id", "standings.race_id": "races.race_id",
              "standings.driver_id": "drivers.driver_id", "qualifying.race_id": "races.race_id",
              "qualifying.driver_id": "drivers.driver_id", "qualifying.constructor_id": "constructors.constructor_id"}',
    exclude => '{circuits.circuit_id,drivers.driver_id,constructors.constructor_id}');
CREATE VIEW labels AS SELECT as_of, driver_id, CASE WHEN split = 'train' THEN target END AS target FROM f1.:"task";
SELECT gp_create_task('f1_task', 'f1_quality', labels => 'labels', entity => 'driver_id', target => 'target', time_column => 'as_of', horizon => :'horizon');
SELECT seconds FROM gp_fit('f1_task');
WITH asked AS (SELECT as_of, array_agg(driver_id) AS drivers FROM f1.:"task" WHERE split = 'test' GROUP BY as_of),
told AS (SELECT CASE WHEN g.class = '0' THEN 1 - g.probability ELSE coalesce(g.probability, g.score) END AS told, t.target::float8, g.class
         FROM asked AS a CROSS JOIN LATERAL gp_predict_live('f1_task', a.drivers, as_of => a.as_of) AS g
             JOIN f1.:"task" AS t ON t.as_of = a.as_of AND t.driver_id = g.node),
ranked AS (SELECT *, rank() OVER (ORDER BY told) + (count(*) OVER (PARTITION BY told) - 1) / 2.0 AS place FROM told)
SELECT CASE WHEN count(class) = 0 THEN avg(abs(told - target))
            ELSE (sum(place) FILTER (WHERE target = 1) - count(*) FILTER (WHERE target = 1) * (count(*) FILTER (WHERE target = 1) + 1) / 2.0)
                 / (count(*) FILTER (WHERE target = 1) * count(*) FILTER (WHERE target = 0)) END
FROM ranked;
