-- One page that shows a model: plain HTML and SVG, which need nothing from anywhere.
-- The functions whose names begin with report_ are its parts.

CREATE FUNCTION gnngp_internal.model_id(model text) RETURNS bigint
AS 'MODULE_PATHNAME', 'gnngp_model_id' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gnngp_internal.model_id(text) IS
    'the id in gp_model_catalog of the model that a name means';

CREATE FUNCTION gnngp_internal.report_labels(
    model text,
    OUT target text,
    OUT predicted text,
    OUT probability double precision,
    OUT best double precision,
    OUT score double precision,
    OUT variance double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gnngp_report_labels' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000;
COMMENT ON FUNCTION gnngp_internal.report_labels(text) IS
    'part of gp_report(model): gp_loo without ids, with the probability of the predicted class as best';

-- A browser must find no markup in it, and no character that HTML does not allow: controls but
-- tab and newline become question marks.  The bytes from 80 to 9f are controls in Unicode alone.
CREATE FUNCTION gnngp_internal.report_html(value text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT replace(replace(replace(replace(replace(
        regexp_replace(coalesce(value, ''),
                       CASE getdatabaseencoding() WHEN 'UTF8' THEN '[\u0001-\u0008\u000b-\u001f\u007f-\u009f]'
                            ELSE '[\x01-\x08\x0b-\x1f\x7f]' END, '?', 'g'),
        '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;')
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_html(text) IS
    'part of gp_report(model): a text in which nothing is markup';

-- Words of a cell break after marks before a letter, and every twelve characters; no shorter ones do.
CREATE FUNCTION gnngp_internal.report_cell(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT regexp_replace(regexp_replace(gnngp_internal.report_html(value), '([._/@:-])(?=[[:alpha:]])', '\1<wbr>', 'g'),
                          '((?:&[^;]+;|[^\s&<>]){12})(?=[^\s<])', '\1<wbr>', 'g')
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_cell(text) IS
    'part of gp_report(model): a text in a cell of a table';

CREATE FUNCTION gnngp_internal.report_number(value double precision) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT CASE WHEN abs(value) >= 1e7 OR abs(value) < 1e-4 AND value <> 0 THEN ltrim(to_char(value, '9.9EEEE'))
                WHEN abs(value) >= 1e6 THEN trim_scale(round(value::numeric / 1000000, 1)) || 'M'
                WHEN abs(value) >= 1e4 THEN round(value::numeric / 1000) || 'k'
                ELSE trim_scale(round(value::numeric, CASE WHEN abs(value) >= 100 THEN 0 WHEN abs(value) < 0.01 THEN 4 ELSE 3 END))::text END
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_number(double precision) IS
    'part of gp_report(model): a number beside an axis';

CREATE FUNCTION gnngp_internal.report_rounded(value double precision) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT CASE WHEN abs(value) >= 100 OR abs(value) < 0.001 AND value <> 0 THEN gnngp_internal.report_number(value)
                ELSE round(value::numeric, 3)::text END
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_rounded(double precision) IS
    'part of gp_report(model): a number in a column of figures';

CREATE FUNCTION gnngp_internal.report_count(value numeric) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT ltrim(to_char(value, '999,999,999,999'))
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_count(numeric) IS
    'part of gp_report(model): a count in a sentence';

-- The least number at or above a value that has a round half: the ticks of a chart stand there.
CREATE FUNCTION gnngp_internal.report_top(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT min(digit * power) FROM unnest('{1,2,4,6,8,10}'::float8[]) AS digit, pg_catalog.power(10.0::float8, floor(log(greatest(value, 2)))) AS power
    WHERE digit * power >= value
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_top(double precision) IS
    'part of gp_report(model): the upper end of an axis';

-- A chart of 300 by 200 with three ticks on either axis; marks are in its coordinates.
CREATE FUNCTION gnngp_internal.report_chart(title text, x text, x_low double precision,
    x_high double precision, y text, y_low double precision, y_high double precision, marks text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT format('<figure><figcaption>%s</figcaption><svg viewBox="-70 -14 402 256" role="img" aria-label="%1$s">'
                  '<path class="axis" d="M0 0V200H300"/>%s%s<text class="x" x="150" y="238">%s</text>'
                  '<text class="x" x="-100" y="-56" transform="rotate(-90)">%s</text></svg></figure>',
                  gnngp_internal.report_html(title), coalesce(marks, ''), ticks, gnngp_internal.report_html(x), gnngp_internal.report_html(y))
    FROM (SELECT string_agg(format('<text class="x" x="%s" y="217">%s</text><text class="y" x="-6" y="%s">%s</text>',
                                   t * 150, gnngp_internal.report_number(x_low + (x_high - x_low) * t / 2),
                                   204 - t * 100, gnngp_internal.report_number(y_low + (y_high - y_low) * t / 2)), '') AS ticks
          FROM generate_series(0, 2) AS t) AS axes
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_chart(text, text, double precision, double precision, text, double precision, double precision, text) IS
    'part of gp_report(model): one chart';

-- A table from rows whose cells have been made HTML; the heads of numbers begin with #.
CREATE FUNCTION gnngp_internal.report_table(title text, head text[], body text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT format('<figure><figcaption>%s</figcaption><table>%s%s</table></figure>',
                  gnngp_internal.report_html(title),
                  (SELECT '<tr>' || string_agg(format('<th%s>%s</th>', CASE WHEN h LIKE '#%' THEN ' class="n"' END, gnngp_internal.report_html(ltrim(h, '#'))), '') || '</tr>'
                   FROM unnest(head) AS h), body)
    WHERE body IS NOT NULL
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_table(text, text[], text) IS
    'part of gp_report(model): one table';

-- What falling scores find: the ROC curve and the precision-recall curve, at no more than four hundred scores.
CREATE FUNCTION gnngp_internal.report_curves(sought text, roc_figures text, precision_figures text,
    score double precision[], hit boolean[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH level AS (
        SELECT s, count(*) FILTER (WHERE h) AS hits, count(*) FILTER (WHERE NOT h) AS misses
        FROM unnest(score, hit) AS pair (s, h) GROUP BY s
    ), run AS (
        SELECT row_number() OVER w AS n, sum(hits) OVER w AS found, sum(misses) OVER w AS wrong
        FROM level WINDOW w AS (ORDER BY s DESC)
    ), total AS (
        SELECT sum(hits) AS hits, sum(misses) AS misses, count(*) AS n FROM level
    ), point AS (
        SELECT run.n, (300 * wrong / misses)::numeric AS x, (200 - 200 * found / hits)::numeric AS y,
               (300 * found / hits)::numeric AS recall, (200 - 200 * found / (found + wrong))::numeric AS precision,
               round(200 - 200 * hits / (hits + misses), 1) AS share
        FROM run, total WHERE hits > 0 AND misses > 0 AND (run.n = 1 OR run.n = total.n OR run.n % (1 + total.n / 400) = 0)
    )
    SELECT gnngp_internal.report_chart('ROC curve of ' || sought || roc_figures, 'false-positive rate', 0, 1, 'recall', 0, 1,
               '<path class="ideal" d="M0 200L300 0"/>' ||
               format('<path class="line" d="M0 200L%s"/>', string_agg(round(x, 1) || ' ' || round(y, 1), 'L' ORDER BY n))) ||
           gnngp_internal.report_chart('Precision and recall of ' || sought || precision_figures, 'recall', 0, 1, 'precision', 0, 1,
               format('<path class="ideal" d="M0 %s H300"/><path class="line" d="M0 %s L%s"/>', min(share), (array_agg(round(precision, 1) ORDER BY n))[1],
                      string_agg(round(recall, 1) || ' ' || round(precision, 1), 'L' ORDER BY n)))
    FROM point HAVING count(*) > 0
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_curves(text, text, text, double precision[], boolean[]) IS
    'part of gp_report(model): the ROC curve and the precision-recall curve of some scores';

CREATE FUNCTION gnngp_internal.report_figure(figures jsonb, metric text, label text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT format(', %s %s', label, round((figures ->> metric)::numeric, 3)) WHERE figures ? metric
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_figure(jsonb, text, text) IS
    'part of gp_report(model): a figure of gp_evaluate behind the title of a chart';

-- Two classes: how well the probability of the one with fewer labels finds it.
CREATE FUNCTION gnngp_internal.report_two_classes(model text, figures jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS MATERIALIZED (
        SELECT target, probability FROM gnngp_internal.report_labels(model)
    ), rare AS (
        SELECT label.target AS class
        FROM label, gnngp_internal.gp_model_catalog AS m WHERE m.id = gnngp_internal.model_id(model) AND m.classes = 2
        GROUP BY label.target, m.class_labels ORDER BY count(*), array_position(m.class_labels, label.target) DESC LIMIT 1
    )
    SELECT gnngp_internal.report_curves(format('labels "%s"', CASE WHEN length(rare.class) > 14 THEN left(rare.class, 13) || '...' ELSE rare.class END),
        gnngp_internal.report_figure(figures, 'roc_auc', 'AUC'), gnngp_internal.report_figure(figures, 'pr_auc', 'average precision'),
        array_agg(CASE WHEN label.target = rare.class THEN probability ELSE 1 - probability END), array_agg(label.target = rare.class))
    FROM label, rare GROUP BY rare.class
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_two_classes(text, jsonb) IS
    'part of gp_report(model): the curves of two classes';

-- Links: the pairs that were held out.
CREATE FUNCTION gnngp_internal.report_links(model text, figures jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT concat(
        gnngp_internal.report_table('Links: how well held-out ones are ranked', '{figure,#value}',
            format('<tr><td>method</td><td class="w">%s</td></tr><tr><td>pairs learnt from</td><td class="n">%s</td></tr>', gnngp_internal.report_cell(m.link_method), m.link_pairs) ||
            (SELECT string_agg(format('<tr><td>%s</td><td class="n">%s</td></tr>', f.label, round((figures ->> f.metric)::numeric, 3)), '' ORDER BY f.n)
             FROM (VALUES (1, 'auc', 'AUC: chance that a link scores above a random pair'), (2, 'average_precision', 'average precision'),
                          (3, 'auc_component', 'AUC within one component; .5 is chance'),
                          (4, 'mrr', 'mean reciprocal rank among a hundred candidates near by'),
                          (5, 'mrr_common_neighbours', 'the same by common neighbours'),
                          (6, 'mrr_resource_allocation', 'the same by resource allocation'),
                          (7, 'mrr_preferential_attachment', 'the same by numbers of links alone'),
                          (8, 'hits_at_1', 'share at the first place of these'),
                          (9, 'hits_at_10', 'share at the first ten places'),
                          (10, 'hits_at_20', 'share at the first twenty places')) AS f (n, metric, label)
             WHERE figures ? f.metric)),
        (SELECT gnngp_internal.report_curves('held-out links',
                    concat(gnngp_internal.report_figure(figures, 'auc', 'AUC'), gnngp_internal.report_figure(figures, 'auc_component', 'within one component')),
                    gnngp_internal.report_figure(figures, 'average_precision', 'average precision'), array_agg(score), array_agg(linked))
         FROM @extschema@.gp_heldout_links(model, NULL::text)))
    FROM gnngp_internal.gp_model_catalog AS m WHERE m.id = gnngp_internal.model_id(model)
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_links(text, jsonb) IS
    'part of gp_report(model): the table and the curves of links';

-- How often predictions are right, by their probability.
CREATE FUNCTION gnngp_internal.report_reliability(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT gnngp_internal.report_chart('Reliability: are predictions with .7 right seven times in ten?',
        'predicted probability', 0, 1, 'share that was right', 0, 1,
        '<path class="ideal" d="M0 200L300 0"/>' ||
        string_agg(format('<circle cx="%s" cy="%s" r="%s"><title>predicted %s, right %s, of %s labels</title></circle>',
                          round((said * 300)::numeric, 1), round(200 - hit * 200, 1), round((3 + 9 * sqrt(n / total))::numeric, 1),
                          round(said::numeric, 3), round(hit, 3), n), '' ORDER BY said))
    FROM (SELECT count(*) AS n, avg(l.best) AS said, avg((l.target = l.predicted)::integer) AS hit, sum(count(*)) OVER () AS total
          FROM gnngp_internal.report_labels(model) AS l
          GROUP BY least(floor(l.best * 15), 14)) AS bins
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_reliability(text) IS
    'part of gp_report(model): the reliability diagram';

-- What is taken for what, for the twelve classes with most labels.
CREATE FUNCTION gnngp_internal.report_confusion(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS (
        SELECT target, predicted FROM gnngp_internal.report_labels(model)
    ), ranked AS (
        SELECT target AS class, count(*) AS n, row_number() OVER (ORDER BY count(*) DESC, target COLLATE "C") AS place
        FROM label GROUP BY target
    ), shown AS (
        SELECT place, class, n, 30 + 5 * max(least(length(class), 15)) OVER () AS top,
               greatest(30, least(70, 200 / count(*) OVER ())) AS width, greatest(22, least(36, 100 / count(*) OVER ())) AS height,
               CASE WHEN length(class) > 14 THEN gnngp_internal.report_html(left(class, 13)) || '&#8230;'
                                 ELSE gnngp_internal.report_html(class) END AS name
        FROM ranked WHERE place <= 12
    ), cell AS (
        SELECT t.place AS y, p.place AS x, count(l.target) AS n, count(l.target) / t.n::float8 AS share
        FROM shown AS t CROSS JOIN shown AS p LEFT JOIN label AS l ON l.target = t.class AND l.predicted = p.class
        GROUP BY t.place, t.n, p.place
    )
    SELECT format('<figure><figcaption>Confusion: true classes in rows, predicted ones in columns%s</figcaption>'
                  '<svg viewBox="0 0 %s %s" role="img" aria-label="confusion matrix">%s%s</svg></figure>',
                  CASE WHEN (SELECT count(*) FROM ranked) > 12 THEN ' (the twelve classes with most labels)' END,
                  greatest(175 + max(width) * count(*), 402), 10 + max(top) + max(height) * count(*),
                  (SELECT string_agg(format('<rect x="%s" y="%s" width="%s" height="%s" style="fill-opacity:%s"/><text class="x%s" x="%s" y="%s">%s</text>',
                                            110 + width * (x - 1), top + height * (y - 1), width - 1, height - 1, round(share::numeric, 3),
                                            CASE WHEN share > 0.55 THEN ' on' END, 110 + width * x - width / 2, top + height * y - height / 2 + 4,
                                            gnngp_internal.report_number(nullif(n, 0))), '' ORDER BY y, x)
                   FROM cell, (SELECT DISTINCT top, width, height FROM shown) AS place),
                  string_agg(format('<text class="y" x="104" y="%s">%s</text><text transform="translate(%s %s) rotate(-55)">%2$s</text>',
                                    top + height * place - height / 2 + 4, name, 112 + width * place - width / 2, top - 4), '' ORDER BY place))
    FROM shown
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_confusion(text) IS
    'part of gp_report(model): the confusion matrix';

-- Recall, precision and doubt of each class.
CREATE FUNCTION gnngp_internal.report_by_class(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS (
        SELECT target, predicted, probability FROM gnngp_internal.report_labels(model)
    ), own AS (
        SELECT target AS class, count(*) AS n, avg((target = predicted)::integer) AS recall, avg(probability) AS said
        FROM label GROUP BY target
    ), reported AS (
        SELECT predicted AS class, avg((target = predicted)::integer) AS hit FROM label GROUP BY predicted
    )
    SELECT gnngp_internal.report_table('By class: p is the mean probability of the true class', '{class,#labels,#recall,#precision,#p}',
        string_agg(format('<tr><td>%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>', gnngp_internal.report_cell(class), n,
                          round(recall, 3), coalesce(round(hit, 3)::text, '-'), round(said::numeric, 3)),
                   '' ORDER BY place) ||
        CASE WHEN max(classes) > 20 THEN format('<tr><td colspan="5">and %s more</td></tr>', gnngp_internal.report_count(max(classes) - 20)) ELSE '' END)
    FROM (SELECT own.*, reported.hit, row_number() OVER (ORDER BY n DESC, class COLLATE "C") AS place, count(*) OVER () AS classes
          FROM own LEFT JOIN reported USING (class)) AS ranked
    WHERE place <= 20
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_by_class(text) IS
    'part of gp_report(model): the table of classes';

-- How sure the model is of all nodes.
CREATE FUNCTION gnngp_internal.report_sureness(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT gnngp_internal.report_chart('All nodes, by the probability of their best class', 'probability', 0, 1,
        'nodes', 0, max(most), string_agg(format('<rect class="bar" x="%s" y="%s" width="13" height="%s"><title>%s nodes</title></rect>',
                                              bin * 15 + 1, round((200 - 200 * n / most)::numeric, 1), round((200 * n / most)::numeric, 1), n), ''))
    FROM (SELECT bin, count(*) AS n, gnngp_internal.report_top(max(count(*)) OVER ()) AS most
          FROM (SELECT least(floor(probability * 20), 19) AS bin FROM @extschema@.gp_predict(model, NULL::text)) AS node
          GROUP BY bin) AS bins
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_sureness(text) IS
    'part of gp_report(model): the histogram of probabilities';

-- How many classes a prediction set has, for two thousand nodes, or fewer where there are many classes.
CREATE FUNCTION gnngp_internal.report_sets(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH node AS MATERIALIZED (
        SELECT array_agg(node) AS some
        FROM (SELECT node FROM @extschema@.gp_predict(model, NULL::text) ORDER BY hashtext(node)
              LIMIT (SELECT greatest(50, least(2000, 60000 / greatest(m.classes, 1))) FROM gnngp_internal.gp_model_catalog AS m
                     WHERE m.id = gnngp_internal.model_id(model))) AS drawn
    ), size AS (
        SELECT c AS coverage, (SELECT avg(cardinality(s.classes)) FROM @extschema@.gp_predict_sets(model, node.some, c) AS s)::float8 AS classes
        FROM node, unnest('{0.5,0.6,0.7,0.8,0.85,0.9,0.95,0.98}'::float8[]) AS c
    )
    SELECT gnngp_internal.report_chart('Size of prediction sets: mean number of classes for a coverage',
        'coverage', 0.5, 1, 'classes in a set', 0, most,
        format('<path class="line" d="M%s"/>', string_agg(format('%s %s', round(((coverage - 0.5) * 600)::numeric, 1),
                                                                  round((200 - 200 * classes / most)::numeric, 1)), 'L' ORDER BY coverage)) ||
        string_agg(format('<circle cx="%s" cy="%s" r="4"><title>%s: %s classes</title></circle>', round(((coverage - 0.5) * 600)::numeric, 1),
                          round((200 - 200 * classes / most)::numeric, 1), coverage, round(classes::numeric, 2)), ''))
    FROM (SELECT size.*, gnngp_internal.report_top(max(classes) OVER ()) AS most FROM size) AS sizes
    GROUP BY most
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_sets(text) IS
    'part of gp_report(model): the curve of coverage and sizes';

-- Values: what was predicted beside what is true, and how often intervals hold it.
CREATE FUNCTION gnngp_internal.report_values(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS MATERIALIZED (
        SELECT target::float8 AS y, score AS m, abs(target::float8 - score) / nullif(sqrt(variance), 0) AS far
        FROM gnngp_internal.report_labels(model)
    ), range AS (
        SELECT least(min(y), min(m)) AS low, greatest(max(y), max(m), least(min(y), min(m)) + greatest(1e-9, 1e-9 * abs(least(min(y), min(m))))) AS high, count(*) AS n FROM label
    ), drawn AS (
        SELECT y, m FROM label ORDER BY hashfloat8(y) LIMIT 1500
    )
    SELECT gnngp_internal.report_chart('Labels, each predicted without itself', 'true value', low, high, 'predicted', low, high,
               '<path class="ideal" d="M0 200L300 0"/>' ||
               (SELECT string_agg(format('<circle class="dot" cx="%s" cy="%s" r="2"/>', round((300 * (y - low) / (high - low))::numeric, 1),
                                         round((200 - 200 * (m - low) / (high - low))::numeric, 1)), '') FROM drawn)) ||
           gnngp_internal.report_chart('Intervals: labels within so many standard deviations', 'standard deviations', 0, 3, 'share of labels', 0, 1,
               (SELECT format('<path class="line" d="M%s"/>',
                              string_agg(format('%s %s', round((z * 100)::numeric, 1), round((200 - 200 * share)::numeric, 1)), 'L' ORDER BY z))
                FROM (SELECT z / 10.0 AS z, (SELECT count(*) FROM label WHERE far <= z / 10.0) / range.n::float8 AS share
                      FROM generate_series(0, 30) AS z) AS curve) ||
               -- The share of a normal distribution, of which erf(z / sqrt 2) is a table here.
               '<path class="ideal" d="M0 200L25 160.5L50 123.4L75 90.7L100 63.5L125 42.3L150 26.7L175 16L200 9.1L250 2.5L300 0.5"/>')
    FROM range
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_values(text) IS
    'part of gp_report(model): the charts of values';

-- What a model is: its row in gp_models, and its figures.
CREATE FUNCTION gnngp_internal.report_summary(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT gnngp_internal.report_table('What was fitted, and from what', '{}',
        string_agg(format('<tr><th>%s</th><td>%s</td></tr>', gnngp_internal.report_html(replace(f.key, '_', ' ')), gnngp_internal.report_html(f.value)), '' ORDER BY f.n))
    FROM gnngp_internal.gp_model_catalog AS m LEFT JOIN gnngp_internal.gp_graph_catalog AS g ON g.id = m.graph,
        LATERAL (VALUES (1, 'graph', coalesce((SELECT name FROM gnngp_internal.gp_graph_catalog WHERE id = g.of_graph), g.name)),
                        (1, 'asks', gnngp_internal.gp_asks(g)), (2, 'node table', g.nodes::text), (3, 'edge table', g.edges::text), (4, 'target', gnngp_internal.gp_column_now(g.nodes, g.target, g.numbers)),
                        (5, 'task', m.task),
                        (6, 'kernel', coalesce(m.kernel, m.asked_kernel)),
                        (6, 'power of the kernel', CASE WHEN m.power <> 1 THEN m.power::text END), (7, 'strategy', m.strategy), (8, 'device', m.device),
                        (9, 'nodes', gnngp_internal.report_count(coalesce(m.nodes, m.link_nodes))),
                        (10, 'edges', CASE WHEN coalesce(g.of_graph, 0) = 0 THEN gnngp_internal.report_count(coalesce(m.edges, m.link_edges)) END),
                        (10, 'relations', CASE WHEN g.of_graph > 0 THEN format('%s, with %s facts', coalesce(m.relations, 0), gnngp_internal.report_count(coalesce(m.facts, 0))) END),
                        (10, 'rows of the task', CASE WHEN g.of_graph > 0 THEN gnngp_internal.report_count(m.rows) END),
                        (11, 'features', gnngp_internal.report_count(nullif(m.features, 0))), (12, 'classes', m.classes::text), (13, 'labelled', gnngp_internal.report_count(m.labelled)),
                        (14, 'landmarks', gnngp_internal.report_count(m.landmarks) || ' nodes that stand for all'),
                        (15, 'nugget', gnngp_internal.report_number(m.nugget) || ' noise, relative to the kernel''s variance'),
                        (16, 'fitted', to_char(coalesce(m.fitted, m.link_fitted), 'YYYY-MM-DD HH24:MI TZ') || ', by gnngp ' ||
                         (SELECT extversion FROM pg_extension WHERE extname = 'gnngp')),
                        (17, 'owner', m.owner::text), (17, 'seconds', round(coalesce(m.seconds, m.link_seconds)::numeric, 1)::text),
                        (17, 'memory', pg_size_pretty(coalesce(m.peak_bytes, m.link_peak_bytes))),
                        (18, 'kernels compared, by ' || CASE m.task WHEN 'classification' THEN 'nll' ELSE 'score' END,
                         (SELECT string_agg(a.key || ' ' || coalesce(a.value->>CASE m.task WHEN 'classification' THEN 'nll' ELSE 'loo_score' END, '-'), ', '
                                            ORDER BY (a.value->>'nll')::numeric, (a.value->>'loo_score')::numeric DESC NULLS LAST)
                          FROM jsonb_each(m.alternatives) AS a
                          WHERE a.value ? 'skipped' OR a.value ? CASE m.task WHEN 'classification' THEN 'nll' ELSE 'loo_score' END)),
                        (19, 'notices', nullif(array_to_string(m.notices || m.link_notices, '; '), ''))) AS f (n, key, value)
    WHERE m.id = gnngp_internal.model_id(model) AND f.value IS NOT NULL
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_summary(text) IS
    'part of gp_report(model): what was fitted';

-- Of a task with times how well each block of them was predicted from those before it.
CREATE FUNCTION gnngp_internal.report_backtest(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT gnngp_internal.report_table('Backtest: times predicted from earlier ones only', array_cat('{from,#labels}', metrics),
        string_agg(format('<tr><td>%s</td><td class="n">%s</td>%s</tr>', to_char(since, 'YYYY-MM-DD'), labelled, cells), '' ORDER BY since))
    FROM (SELECT since, max(labelled) AS labelled, array_agg('#' || metric ORDER BY metric) AS metrics,
                 string_agg(format('<td class="n">%s</td>', round(value::numeric, 3)), '' ORDER BY metric) AS cells
          FROM @extschema@.gp_backtest(model) WHERE metric IN ('accuracy', 'nll', 'mae', 'r2', 'rmse') GROUP BY since) AS block
    GROUP BY metrics
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_backtest(text) IS
    'part of gp_report(model): blocks of times, each predicted from those before it';

-- The refreshes of the last month.
CREATE FUNCTION gnngp_internal.report_refreshes(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT gnngp_internal.report_table('Refreshes of the last month', '{started,#seconds,outcome,message}',
        string_agg(format('<tr><td>%s</td><td class="n">%s</td><td>%s</td><td>%s</td></tr>', to_char(started, 'YYYY-MM-DD HH24:MI'),
                          coalesce(round(extract(epoch FROM ended - started), 1)::text, ''), gnngp_internal.report_html(outcome), gnngp_internal.report_cell(left(message, 300))),
                   '' ORDER BY started DESC))
    FROM (SELECT started, ended, message,
                 CASE WHEN outcome = 'running' AND NOT gnngp_internal.gp_is_refreshing(l.model) THEN 'interrupted' ELSE outcome END AS outcome
          FROM gnngp_internal.gp_refresh_log AS l
          WHERE l.model = gnngp_internal.model_id(report_refreshes.model) AND started > now() - interval '1 month'
          ORDER BY started DESC LIMIT 40) AS run
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_refreshes(text) IS
    'part of gp_report(model): the table of refreshes';

-- The figures of gp_evaluate, each with its meaning and with what the labels' shares, or their mean, come to.
CREATE FUNCTION gnngp_internal.report_figures(model text, figures jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS MATERIALIZED (
        SELECT target FROM gnngp_internal.report_labels(model)
    ), class AS (
        SELECT count(*) / sum(count(*)) OVER () AS share FROM label GROUP BY target
    ), bare AS (
        SELECT max(share) AS most, min(share) AS least, count(*) AS classes, -sum(share * ln(share)) AS entropy,
               1 - sum(share * share) AS gini
        FROM class
    ), named (n, metric, meaning, bare) AS (
        SELECT v.* FROM bare, LATERAL (VALUES
            (1, 'accuracy', 'share of labels that are predicted correctly', most),
            (2, 'balanced_accuracy', 'mean of the recalls of the classes', 1.0 / classes),
            (3, 'macro_f1', 'mean of the F1 of the classes', NULL),
            (4, 'nll', 'negative log likelihood of a label; lower is better', entropy),
            (5, 'brier', 'squared error of the probabilities; lower is better', gini),
            (6, 'ece', 'mean gap between probability and share of correct predictions; lower is better', NULL),
            (7, 'roc_auc', 'chance that a label of the rarer class gets the higher probability', 0.5),
            (8, 'pr_auc', 'mean precision over all thresholds, for the rarer class', least),
            (9, 'r2', 'explained share of the variance', 0),
            (10, 'rmse', 'typical error, in units of the target',
                 (SELECT stddev_pop(CASE m.task WHEN 'regression' THEN label.target::numeric END)
                  FROM label, gnngp_internal.gp_model_catalog AS m WHERE m.id = gnngp_internal.model_id(model))),
            (11, 'mae', 'mean absolute error, in units of the target', NULL),
            (12, 'coverage90', 'share of labels inside their 90% interval', 0.9),
            (13, 'recall_at_k', 'share of the rarer class that is among the most probable labels, as many as it has', least),
            (14, 'recall_at_threshold', 'share of the rarer class that is found, with 1% false alarms', 0.01),
            (15, 'precision_at_threshold', 'share of correct reports at that threshold', least),
            (16, 'threshold', 'the probability from which to report the rarer class', NULL)) AS v
    )
    SELECT gnngp_internal.report_table('How good it is, each ' || CASE WHEN timed THEN 'block of times' ELSE 'label' END || ' left out in turn',
        '{figure,#model}'::text[] || CASE WHEN timed THEN '{"#earlier times"}'::text[] END || '{#baseline}',
        string_agg(format('<tr><td>%s<small>%s</small></td><td class="n">%s</td>%s<td class="n">%s</td></tr>',
                          replace(named.metric, '_', ' '), named.meaning, gnngp_internal.report_rounded((figures ->> named.metric)::float8),
                          CASE WHEN timed THEN format('<td class="n">%s</td>', gnngp_internal.report_rounded((figures ->> ('forward_' || named.metric))::float8)) END,
                          gnngp_internal.report_rounded(named.bare::float8)), '' ORDER BY named.n))
    FROM named, (SELECT figures ? 'forward_nll' OR figures ? 'forward_rmse' AS timed) AS task
    WHERE figures ? named.metric GROUP BY timed
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_figures(text, jsonb) IS
    'part of gp_report(model): the figures of the labels, beside those without a model';

-- What the model is worth, in a sentence for each of its parts.
CREATE FUNCTION gnngp_internal.report_verdict(model text, figures jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH class AS MATERIALIZED (
        SELECT target, count(*) AS n, count(*) FILTER (WHERE target = predicted) AS found
        FROM gnngp_internal.report_labels(model)
        WHERE figures ? 'accuracy' GROUP BY target
    )
    SELECT concat_ws(' ',
        (SELECT format('It predicts %s%% of the labels correctly (%s of %s), each without %s. The most frequent class alone '
                       'would be right for %s%%.', round(100 * sum(found) / sum(n), 1), gnngp_internal.report_count(sum(found)),
                       gnngp_internal.report_count(sum(n)), CASE WHEN timed THEN 'those of its time' ELSE 'itself' END,
                       round(100 * max(n) / sum(n), 1)) FROM class HAVING count(*) > 0),
        (SELECT format('Ten rounds of label propagation find %s%% of those hidden from it.', round(100 * (figures ->> 'accuracy_label_propagation')::numeric, 1))
         WHERE figures ? 'accuracy_label_propagation'),
        (SELECT format('It finds %s of %s labels "%s".', gnngp_internal.report_count(found), gnngp_internal.report_count(n),
                       gnngp_internal.report_html(left(target, 40)))
         FROM class WHERE (SELECT count(*) FROM class) = 2 ORDER BY n, target LIMIT 1),
        (SELECT format('It explains %s%% of the variance of the labels, each predicted without %s; %s%% of them lie inside '
                       'their 90%% interval.', round(100 * (figures ->> 'r2')::numeric, 1), CASE WHEN timed THEN 'those of its time' ELSE 'itself' END,
                       round(100 * (figures ->> 'coverage90')::numeric, 1))
         WHERE figures ? 'r2'),
        (SELECT CASE WHEN forward > 0.005 THEN format('From earlier times only, it explains %s%%.', round(100 * forward, 1))
                     ELSE 'From earlier times only, it explains nothing.' END
         FROM (SELECT (figures ->> 'forward_r2')::numeric) AS earlier (forward) WHERE forward IS NOT NULL),
        (SELECT format('It ranks %s%% of held-out links among the first twenty of a hundred candidates; chance ranks 20%% there.',
                       round(100 * (figures ->> 'hits_at_20')::numeric, 1))
         WHERE figures ? 'hits_at_20'))
    FROM (SELECT figures ? 'forward_nll' OR figures ? 'forward_rmse' AS timed) AS task
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_verdict(text, jsonb) IS
    'part of gp_report(model): what the model is worth, in a few sentences';

-- Labels that are most likely wrong, nodes that the model is least sure of, values far from their prediction.
CREATE FUNCTION gnngp_internal.report_nodes(model text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH label AS MATERIALIZED (
        SELECT concat_ws(' as of ', left(l.node, 40), to_char(l.as_of, 'FMDD Mon YYYY')) AS node, l.target, l.predicted, l.score, l.probability,
               CASE m.task WHEN 'regression' THEN (l.target::float8 - l.score) / nullif(sqrt(l.variance), 0) END AS far
        FROM gnngp_internal.gp_model_catalog AS m, @extschema@.gp_loo(model, NULL::text) AS l
        WHERE m.id = gnngp_internal.model_id(model)
    )
    SELECT concat(
        (SELECT gnngp_internal.report_table('Doubtful labels: the model prefers another class', '{node,label,predicted,"#its probability"}',
                string_agg(format('<tr><td>%s</td><td>%s</td><td>%s</td><td class="n">%s</td></tr>',
                                  gnngp_internal.report_cell(node), gnngp_internal.report_cell(left(target, 40)),
                                  gnngp_internal.report_cell(left(predicted, 40)), CASE WHEN probability < 0.0005 THEN '&lt; 0.001' ELSE round(probability::numeric, 3)::text END), ''))
         FROM (SELECT * FROM label WHERE far IS NULL AND predicted <> target ORDER BY probability LIMIT 10) AS doubtful),
        (SELECT gnngp_internal.report_table('Least certain: nodes without a label', '{node,"best class",#probability}',
                string_agg(format('<tr><td>%s</td><td>%s</td><td class="n">%s</td></tr>', gnngp_internal.report_cell(left(node, 40)),
                                  gnngp_internal.report_cell(left(class, 40)), round(probability::numeric, 3)), ''))
         FROM (SELECT * FROM @extschema@.gp_predict(model, NULL::text, unlabelled_only => true) WHERE class IS NOT NULL
               ORDER BY probability LIMIT 10) AS unsure),
        (SELECT gnngp_internal.report_table('Surprising values: most deviations from their prediction', '{node,#value,#predicted,#deviations}',
                string_agg(format('<tr><td>%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
                                  gnngp_internal.report_cell(node), gnngp_internal.report_number(target::float8),
                                  gnngp_internal.report_number(score), round(far::numeric, 1)), ''))
         FROM (SELECT * FROM label WHERE far IS NOT NULL ORDER BY abs(far) DESC LIMIT 10) AS surprising))
$sql$;
COMMENT ON FUNCTION gnngp_internal.report_nodes(text) IS
    'part of gp_report(model): doubtful labels, unsure nodes, surprising values';

CREATE FUNCTION gnngp_internal.report_page(model text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    named gnngp_internal.gp_model_catalog;
    page text;
    contents text;
    figures jsonb := coalesce((SELECT jsonb_object_agg(e.metric, e.value) FROM @extschema@.gp_evaluate(model) AS e
                            WHERE e.value IS NOT NULL), '{}');
    judged boolean;
BEGIN
    SELECT * INTO named FROM gnngp_internal.gp_model_catalog AS m WHERE m.id = gnngp_internal.model_id(model);
    judged := named.task IS NOT NULL AND figures ?| '{accuracy,rmse}';
    IF named.task IS NOT NULL AND NOT judged THEN
        page := '<figure><figcaption>Too few labels to judge</figcaption>'
            'Probabilities and intervals are rough guesses. Label at least two nodes of each of two classes, or three with a value.</figure>';
    ELSIF named.task = 'classification' THEN
        page := concat(gnngp_internal.report_figures(model, figures), gnngp_internal.report_reliability(model), gnngp_internal.report_confusion(model),
                       gnngp_internal.report_two_classes(model, figures), gnngp_internal.report_sureness(model), gnngp_internal.report_sets(model),
                       gnngp_internal.report_by_class(model), gnngp_internal.report_nodes(model));
    ELSIF named.task = 'regression' THEN
        page := concat(gnngp_internal.report_figures(model, figures), gnngp_internal.report_values(model), gnngp_internal.report_nodes(model));
    END IF;
    IF named.rows > 0 AND judged THEN
        page := concat(page, gnngp_internal.report_backtest(model));
    END IF;
    IF named.link_method IS NOT NULL THEN
        page := concat(page, gnngp_internal.report_links(model, figures));
    END IF;
    page := concat(page, gnngp_internal.report_summary(model), gnngp_internal.report_refreshes(model));

    -- Each figure gets a number; its title up to the first mark stands in the list of contents.
    SELECT string_agg(format('<figure id="f%s">%s', n - 1, part), '' ORDER BY n),
           string_agg(format('<a href="#f%s">%s</a>', n - 1, substring(part FROM '^<figcaption>([^<:,(]*)')), ' ' ORDER BY n)
    INTO page, contents
    FROM regexp_split_to_table(page, '<figure>') WITH ORDINALITY AS figure (part, n) WHERE n > 1;
    RETURN format('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        '<meta name="color-scheme" content="light dark"><title>%1$s</title><style>'
        ':root{--ink:#1f2933;--dim:#52606d;--rule:#e4e7eb;--page:#fafbfc;--card:#fff;--mark:#2b6cb0;--axis:#9aa5b1}'
        '@media(prefers-color-scheme:dark){:root{--ink:#e4e7eb;--dim:#a3b1bf;--rule:#323f4b;--page:#12181f;--card:#1b232c;--mark:#5aa9e6;--axis:#616e7c}}'
        'body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);margin:32px auto;max-width:1480px;padding:0 20px}'
        'h1{font-size:26px;margin:0 0 8px;overflow-wrap:anywhere}.verdict{font-size:18px;max-width:62em;margin:0 0 12px;overflow-wrap:anywhere}'
        'nav{font-size:14px;margin:0 0 20px}nav a{color:var(--mark);margin-right:14px;text-decoration:none;display:inline-block}main{columns:360px;column-gap:20px}'
        'figure{margin:0 0 20px;padding:16px;border:1px solid var(--rule);border-radius:8px;background:var(--card);break-inside:avoid}'
        'figcaption{font-weight:600;margin-bottom:8px;overflow-wrap:anywhere}svg{width:100%%;height:auto}'
        'svg text{font:12px system-ui,sans-serif;fill:var(--dim)}.x{text-anchor:middle}.y{text-anchor:end}'
        'rect,circle{fill:var(--mark)}svg .on{fill:#fff}.axis{fill:none;stroke:var(--axis)}.ideal{fill:none;stroke:var(--axis);stroke-dasharray:4 4}'
        '.line{fill:none;stroke:var(--mark);stroke-width:2}.dot{opacity:.4}table{border-collapse:collapse;width:100%%;font-size:14px}'
        'th,td{text-align:left;vertical-align:top;padding:4px 8px 4px 0;border-bottom:1px solid var(--rule);font-weight:400}.w{text-align:right}'
        'tr:last-child>*{border-bottom:0}th{color:var(--dim)}th+td{overflow-wrap:anywhere}'
        'small{display:block;color:var(--dim);font-size:12.5px;line-height:1.35}.n{text-align:right}td.n{white-space:nowrap;font-variant-numeric:tabular-nums}td:last-child,th:last-child{padding-right:0}'
        '</style></head><body><h1>%1$s</h1><p class="verdict">%2$s</p><nav>%3$s</nav><main>%4$s</main></body></html>',
        gnngp_internal.report_html(model),
        CASE WHEN judged OR named.link_method IS NOT NULL THEN gnngp_internal.report_verdict(model, figures) END, contents, page);
END
$plpgsql$;
COMMENT ON FUNCTION gnngp_internal.report_page(text) IS
    'part of gp_report(model): the page, where the model is the caller''s';

-- The errors of who may not ask, or misspells a name, are not of the parts.
CREATE FUNCTION @extschema@.gp_report(model text) RETURNS text
AS 'MODULE_PATHNAME', 'gnngp_report' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.gp_report(text) IS
    'a model as one HTML page, to look at: psql -Atc "SELECT gp_report(''m'')" > report.html';
