-- The share of the test nodes' targets inside the nominal 90% interval.
SELECT FROM gp_fit(:'set', :fit) \g /dev/null
SELECT round(avg((abs(n.target - p.score) <= 1.645 * sqrt(p.variance))::integer), 4)
FROM gp_predict(:'set') AS p JOIN :nodes AS n ON n.id = p.node
WHERE n.split = 'test';
