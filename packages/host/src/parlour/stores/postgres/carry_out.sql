-- Executes a batch of units in one call, and so in one transaction and one round trip. Each writing connection creates
-- it, and also the function `step` that it calls, which knows every shape of a statement.
--
--   units      [unit, ...]; a unit is [step, ...]; a step is [its number, arguments, the row count it expects or
--              null, the counter it takes a number from or null], then [argument, step, column] for each Ref
--   counters   the counters that the steps name
--   own_host   the id of this Host in a cluster; empty for a Host that has its database to itself
--   own_slot   the slot of this writer: it gives out the numbers counter * 64 + slot, see `numbers.py`
--   returns    for each unit the rows of its steps, or {"guard": step} or {"code": SQLSTATE, "message": text}
--
-- A step returns its rows, each an array, or else the number of rows it affected. One that uses a counter returns the
-- number of its row as the last column, which is another number if the row existed before.

CREATE FUNCTION pg_temp.carry_out(
    own_id text, own_host text, number_of_batch bigint, counters text[], own_slot bigint, units jsonb
) RETURNS jsonb LANGUAGE plpgsql AS $carry_out$
#variable_conflict use_column
DECLARE
    a_unit jsonb;
    a_step jsonb;
    a_reference jsonb;
    a_counter record;
    arguments jsonb;
    answer jsonb;
    receipt jsonb[];
    results jsonb[] := '{}';
    counter_name text;
    next_number bigint;
    numbers jsonb := '{}';
    numbers_before jsonb;
    referred jsonb;
    touched bigint;
BEGIN
    -- The row is marked as replaced by a writer that lost this connection: the outcome that it found here must not change.
    PERFORM FROM journal_writers WHERE writer_id = own_id AND NOT replaced FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'this writer was replaced' USING ERRCODE = 'PLW01';
    END IF;

    -- Fencing changes the Host's row. So it waits for a batch in progress, and no batch begins after it.
    IF own_host <> '' THEN
        PERFORM FROM hosts WHERE host_id = own_host AND fenced_at = 0 FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'this Host is fenced' USING ERRCODE = 'PLF01';
        END IF;
    END IF;

    -- Every transaction locks counters before rows and in order of their names, so writers of a slot can't deadlock.
    IF cardinality(counters) > 0 THEN
        FOR a_counter IN
            SELECT name, counter FROM journal_counters WHERE slot = own_slot AND name = ANY (counters)
            ORDER BY name FOR UPDATE
        LOOP
            numbers := numbers || jsonb_build_object(a_counter.name, a_counter.counter * 64 + own_slot);
        END LOOP;
    END IF;

    FOR a_unit IN SELECT value FROM jsonb_array_elements(units) LOOP
        receipt := '{}';
        numbers_before := numbers;
        BEGIN
            FOR a_step IN SELECT value FROM jsonb_array_elements(a_unit) LOOP
                arguments := a_step -> 1;
                FOR place IN 4 .. jsonb_array_length(a_step) - 1 LOOP
                    a_reference := a_step -> place;
                    referred := receipt[(a_reference ->> 1)::int + 1] -> 0 -> (a_reference ->> 2)::int;
                    IF referred IS NULL THEN
                        RAISE EXCEPTION 'it refers to a row that is not there' USING ERRCODE = 'PLG01';
                    END IF;
                    arguments := jsonb_set(arguments, ARRAY[a_reference ->> 0], referred);
                END LOOP;
                counter_name := a_step ->> 3;
                next_number := (numbers ->> counter_name)::bigint + 64;
                answer := pg_temp.step((a_step ->> 0)::int, arguments, next_number);
                IF jsonb_typeof(answer) = 'array' THEN
                    touched := jsonb_array_length(answer);
                    IF answer -> 0 -> -1 = to_jsonb(next_number) THEN
                        numbers := jsonb_set(numbers, ARRAY[counter_name], to_jsonb(next_number));
                    END IF;
                ELSE
                    touched := answer;
                    answer := '[]';
                END IF;
                IF touched <> (a_step ->> 2)::bigint THEN
                    RAISE EXCEPTION 'it touched another number of rows' USING ERRCODE = 'PLG01';
                END IF;
                receipt := receipt || answer;
            END LOOP;
            results := results || to_jsonb(receipt);
        EXCEPTION
            WHEN deadlock_detected OR serialization_failure THEN
                RAISE;
            WHEN unique_violation OR SQLSTATE 'PLG01' THEN
                numbers := numbers_before;
                results := results || jsonb_build_object('guard', cardinality(receipt));
            WHEN OTHERS THEN
                numbers := numbers_before;
                results := results || jsonb_build_object('code', SQLSTATE, 'message', SQLERRM);
        END;
    END LOOP;

    UPDATE journal_counters SET counter = (numbers ->> name)::bigint / 64
        WHERE slot = own_slot AND name = ANY (counters) AND counter <> (numbers ->> name)::bigint / 64;
    UPDATE journal_writers SET batch = number_of_batch, outcomes = to_jsonb(results), touched_at = now()
        WHERE writer_id = own_id;
    RETURN to_jsonb(results);
END
$carry_out$
