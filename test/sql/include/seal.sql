\set ECHO none
-- A block with the checksum of its bytes, CRC-32C
CREATE FUNCTION crc32c(data bytea) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    crc bigint := 4294967295; rest bigint[];
BEGIN
    FOR byte IN 0 .. 255 LOOP
        rest[byte] := byte;
        FOR bit IN 1 .. 8 LOOP
            rest[byte] := CASE WHEN rest[byte] & 1 = 1 THEN (rest[byte] >> 1) # 2197175160 ELSE rest[byte] >> 1 END;
        END LOOP;
    END LOOP;
    FOR i IN 0 .. length(data) - 1 LOOP
        crc := rest[(crc # get_byte(data, i)) & 255] # (crc >> 8);
    END LOOP;
    RETURN crc # 4294967295;
END $$;
CREATE FUNCTION seal(data bytea) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    crc bigint := crc32c(overlay(data PLACING '\x00000000' FROM 17));
BEGIN
    FOR i IN 0 .. 3 LOOP
        data := set_byte(data, 16 + i, (crc >> 8 * i & 255)::integer);
    END LOOP;
    RETURN data;
END $$;
\set ECHO all
