-- Two labels of each class and so many more: the share of the other nodes whose class is then right.
UPDATE few_draw SET seed = :seed, per = 2;
TRUNCATE asked;
SELECT FROM gp_fit(:'set' || '_asked', kernel => 'gcn(norm=row)', nugget => 0.1, live => true) \g /dev/null
INSERT INTO asked :pick;
SELECT FROM gp_fit(:'set' || '_asked', kernel => 'gcn(norm=row)', nugget => 0.1, live => true) \g /dev/null
SELECT round(avg((p.class = n.label::text)::integer), 4)
FROM gp_predict(:'set' || '_asked', unlabelled_only => true) AS p JOIN :nodes AS n ON n.id = p.node;
