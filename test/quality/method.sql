-- The share of the test nodes whose class is right; seed is one of several.
SELECT FROM gp_fit(:'graph', kernel => :'method', seed => :seed) \g /dev/null
SELECT avg((p.class = t.class::text)::integer) FROM gp_predict(:'graph') AS p JOIN :test AS t ON t.id = p.node;
