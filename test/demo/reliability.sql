-- Are seven in ten right where the model says .7?  A bar is the share that is
-- right, the stroke is where it would be if the model were perfectly honest.
WITH judged AS (
    SELECT least(floor(g.probability * 10), 9)::integer AS bin, g.probability,
           (g.class = a.section)::integer AS hit
    FROM gp_predict('packages', unlabelled_only => true) AS g
        JOIN answers AS a ON a.id = g.node
), bins AS (
    SELECT bin, count(*) AS packages, avg(probability) AS said, avg(hit) AS came_true
    FROM judged GROUP BY bin
)
SELECT format('.%s to %s', bin, CASE bin WHEN 9 THEN '1 ' ELSE '.' || bin + 1 END) AS probability,
       packages,
       round(said::numeric, 2) AS said,
       round(came_true, 2) AS came_true,
       overlay(rpad(repeat('=', round(came_true * 50)::integer), 51) PLACING '|'
               FROM round(said * 50)::integer + 1) AS right_of_these
FROM bins ORDER BY bin;
