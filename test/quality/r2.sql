-- How much of the variance of the test nodes' targets is explained, and the share of them in the nominal 90% interval.
SELECT FROM gp_fit(:'set', :fit) \g /dev/null
SELECT round((1 - sum((n.target - p.score) ^ 2) / (var_pop(n.target) * count(*)))::numeric, 4) || ' '
    || round(avg((abs(n.target - p.score) <= 1.645 * sqrt(p.variance))::integer), 4)
FROM gp_predict(:'set') AS p JOIN :nodes AS n ON n.id = p.node
WHERE n.split = 'test';
