-- The share of the test nodes whose class is right.
SELECT FROM gp_fit(:'set', :fit) \g /dev/null
SELECT round(avg((p.class = n.label::text)::integer), 4)
FROM gp_predict(:'set') AS p JOIN :nodes AS n ON n.id = p.node
WHERE n.split = 'test';
