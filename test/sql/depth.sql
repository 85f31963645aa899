-- Kernels as deep as they may be: they run or are refused, and the session goes on
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE TABLE deep_node AS SELECT i AS id, CASE WHEN i <= 40 THEN i % 3 END AS class FROM generate_series(1, 300) AS i;
CREATE TABLE deep_edge AS SELECT i AS src, 1 + (i * 7 + k * k * 31) % 300 AS dst
FROM generate_series(1, 300) AS i, generate_series(1, 4) AS k;
SELECT gp_create_graph('deep', 'deep_node', 'deep_edge', target => 'class');

-- So many layers of A*relu(...)*W + b within each other
CREATE FUNCTION nested(levels integer, options text) RETURNS gp_kernel LANGUAGE sql AS $$
    SELECT (repeat('A*relu(', levels) || 'X' || repeat(')*W + b', levels) || options)::gp_kernel
$$;
-- So many constants, each of which needs the next one
CREATE FUNCTION constants(count integer) RETURNS gp_kernel LANGUAGE sql AS $$
    SELECT ('x1*A*relu(X)*W' || string_agg(format(', x%s=sqrt(x%s)', i, i + 1), '' ORDER BY i)
        || format(', x%s=2', count + 1))::gp_kernel
    FROM generate_series(1, count) AS i
$$;
-- How a query ends: 'ran', or its SQLSTATE; so many calls of a function below this one
CREATE FUNCTION outcome(query text, calls integer = 0) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF calls > 0 THEN
        RETURN outcome(query, calls - 1);
    END IF;
    EXECUTE query;
    RETURN 'ran';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;

-- 256 activations on a stack of the usual size
SELECT gp_nodes(f), gp_rank(f)
FROM (SELECT gp_factor(g, NULL, nested(8, ', layers=32, sigma_b=1'), 100) AS f
      FROM (SELECT gp_graph(src, dst) AS g FROM deep_edge) AS x) AS y;
SELECT outcome($$SELECT gp_factor(gp_graph(src, dst), NULL, nested(8, ', layers=32'), 100) FROM deep_edge$$)
    IN ('ran', '22000') AS without_bias;
SELECT strategy FROM gp_estimate('deep', nested(60, ', layers=32, sigma_b=1'), strategy => 'exact');
SELECT nodes, strategy FROM gp_fit('deep', 'deep8', nested(8, ', layers=32, sigma_b=1'), strategy => 'nystrom', landmarks => 50);

-- Layers that share the one before are computed once
SET statement_timeout = '120s';
SELECT strategy FROM gp_estimate('deep', 'X*W1 + relu(X)*W2, layers=32', strategy => 'exact');
SELECT nodes, strategy FROM gp_fit('deep', 'shared', 'X*W1 + relu(X)*W2, layers=32', strategy => 'exact');
RESET statement_timeout;

-- Too many parts are refused before anything is made
SELECT gp_estimate('deep', 'A*X*W1 + X*W2 + relu(X)*W3, layers=32', strategy => 'nystrom');
SELECT gp_factor(gp_graph(src, dst), NULL, 'A*relu(X*W+b)*W1 + relu(X*W+b)*W2 + A*X*W, layers=32, sigma_b=1', 20) FROM deep_edge;

-- On the smallest stack
SET max_stack_depth = '100kB';
SELECT bool_and(short IN ('ran', '54001') AND long IN ('ran', '54001')) AS clean, bool_or(short = 'ran' AND long = '54001') AS looks
FROM generate_series(0, 60) AS calls, outcome('SELECT constants(1)', calls) AS short, outcome('SELECT constants(225)', calls) AS long;
SELECT levels, outcome(format('SELECT nested(%s, '', layers=32, sigma_b=1'')', levels)) IN ('ran', '54001') AS read,
    outcome(format('SELECT gp_estimate(''deep'', nested(%s, '', layers=32, sigma_b=1''))', levels)) IN ('ran', '54001') AS estimated,
    outcome(format('SELECT gp_fit(''deep'', ''deep%s'', nested(%s, '', layers=32, sigma_b=1''), strategy => ''nystrom'', landmarks => 20)', levels, levels))
        IN ('ran', '54001') AS fitted
FROM unnest(ARRAY[1, 8, 60]) AS levels;
SELECT outcome($$SELECT gp_factor(gp_graph(src, dst), NULL, nested(8, ', layers=32, sigma_b=1'), 100) FROM deep_edge$$)
    IN ('ran', '54001') AS factor;
SELECT nodes, strategy FROM gp_fit('deep', 'again', 'gcn', strategy => 'exact');
RESET max_stack_depth;
SELECT left(constants(225)::text, 30) AS constants;

SELECT count(*) AS dropped FROM (SELECT gp_drop_graph('deep')) AS d;
DROP FUNCTION nested, constants, outcome;
DROP TABLE deep_node, deep_edge;
