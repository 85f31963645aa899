\set ECHO none
-- What a statement says: ok, or its error with detail and hint in lines below
CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text; hint text;
BEGIN
    EXECUTE statement;
    RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ': ' || SQLERRM || coalesce(E'\n  detail: ' || nullif(detail, ''), '')
        || coalesce(E'\n  hint: ' || nullif(hint, ''), '');
END $$;
\set ECHO all
