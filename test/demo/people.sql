-- people.sql - 200 people who call each other, for the examples of README.md.

-- A regression on people with text ids, columns for features and weights.
CREATE TABLE people AS
    SELECT 'person ' || i AS email, (20 + i % 50)::real AS age, i % 7 AS visits,
           CASE WHEN i % 3 > 0 THEN 10.0 * (i % 7) + sin(i) END AS spending
    FROM generate_series(1, 200) AS i;
CREATE TABLE calls AS
    SELECT 'person ' || i AS caller, 'person ' || 1 + (i + 7) % 200 AS called, 1 + i % 5 AS minutes
    FROM generate_series(1, 200) AS i;
