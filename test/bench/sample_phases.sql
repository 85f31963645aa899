-- sample_phases.sql - notes every 5 ms which phase gp_progress shows, until
-- nothing has run for half a second.
DO $$
DECLARE
    quiet integer := 0;
    seen boolean := false;
    now_in text;
BEGIN
    WHILE quiet < 100 OR NOT seen AND quiet < 2000 LOOP
        PERFORM pg_stat_clear_snapshot();
        SELECT phase INTO now_in FROM gp_progress LIMIT 1;
        IF now_in IS NULL THEN
            IF seen AND quiet = 0 THEN
                INSERT INTO sample VALUES (clock_timestamp(), 'end');
            END IF;
            quiet := quiet + 1;
        ELSE
            seen := true;
            quiet := 0;
            INSERT INTO sample VALUES (clock_timestamp(), now_in);
        END IF;
        PERFORM pg_sleep(0.005);
    END LOOP;
END $$;
