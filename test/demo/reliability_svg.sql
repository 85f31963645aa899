-- The reliability picture as SVG, drawn by one query:
--   psql -X -At -f reliability_svg.sql >reliability.svg
WITH judged AS (
    SELECT least(floor(g.probability * 10), 9)::integer AS bin, g.probability,
           (g.class = a.section)::integer AS hit
    FROM gp_predict('packages', unlabelled_only => true) AS g
        JOIN answers AS a ON a.id = g.node
), bins AS (
    SELECT bin, count(*) AS n, avg(probability) AS said, avg(hit) AS came_true
    FROM judged GROUP BY bin
), bars AS (
    SELECT string_agg(format(
        '<rect x="%s" y="%s" width="30" height="%s" fill="#4a7fb5"/>'
        '<circle cx="%s" cy="%s" r="3.5" fill="#c0392b"/>'
        '<text x="%s" y="292" text-anchor="middle" font-size="9" fill="#777">%s</text>',
        54 + bin * 36, round(260 - 230 * came_true, 1), round(230 * came_true, 1),
        69 + bin * 36, round((260 - 230 * said)::numeric, 1),
        69 + bin * 36, n), E'\n' ORDER BY bin) AS svg
    FROM bins
), ticks AS (
    SELECT string_agg(format(
        '<line x1="50" y1="%1$s" x2="414" y2="%1$s" stroke="#ddd"/>'
        '<text x="44" y="%2$s" text-anchor="end">%3$s</text>',
        260 - 46 * i, 264 - 46 * i, to_char(i * 0.2, '0.9')), E'\n' ORDER BY i) AS svg
    FROM generate_series(0, 5) AS i
), labels AS (
    SELECT string_agg(format('<text x="%s" y="276" text-anchor="middle">%s</text>',
        51 + i * 36, to_char(i * 0.1, '0.9')), E'\n' ORDER BY i) AS svg
    FROM generate_series(0, 10) AS i
)
SELECT '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 430 330" width="560" font-family="sans-serif" font-size="11">'
    || E'\n<style>@media (prefers-color-scheme: dark) { rect[fill="#fff"] { fill: #12181f } text { fill: #e4e7eb } line { stroke: #3e4c59 } }</style>'
    || E'\n<rect width="430" height="330" fill="#fff"/>\n' || ticks.svg || E'\n' || bars.svg || E'\n' || labels.svg
    || E'\n<line x1="50" y1="260" x2="414" y2="260" stroke="#333"/>'
    || E'\n<text x="232" y="308" text-anchor="middle">probability that the model gave (number of packages below)</text>'
    || E'\n<text x="14" y="145" text-anchor="middle" transform="rotate(-90 14 145)">share that was right</text>'
    || E'\n<rect x="60" y="18" width="10" height="10" fill="#4a7fb5"/><text x="75" y="27">what came true</text>'
    || E'\n<circle cx="175" cy="23" r="3.5" fill="#c0392b"/><text x="184" y="27">what the model said</text>'
    || E'\n</svg>'
FROM bars, ticks, labels;
