-- Answers a batch of queries in one call, and so in one round trip. Each connection that needs it creates it, and
-- also the function `step` that it calls, which knows every shape of a query.
--
--   queries    [query, ...]; a query is [number of its step, arguments]
--   returns    for each query its rows, each an array, or {"code": SQLSTATE, "message": text}

CREATE FUNCTION pg_temp.answer(queries jsonb) RETURNS jsonb LANGUAGE plpgsql AS $answer$
DECLARE
    a_query jsonb;
    results jsonb[] := '{}';
BEGIN
    FOR a_query IN SELECT value FROM jsonb_array_elements(queries) LOOP
        BEGIN
            results := results || pg_temp.step((a_query ->> 0)::int, a_query -> 1, NULL);
        EXCEPTION WHEN OTHERS THEN
            results := results || jsonb_build_object('code', SQLSTATE, 'message', SQLERRM);
        END;
    END LOOP;
    RETURN to_jsonb(results);
END
$answer$
