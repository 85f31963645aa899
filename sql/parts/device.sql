-- Devices

-- It looks at hardware, and parallel workers would each look for themselves.
CREATE FUNCTION @extschema@.gp_device()
RETURNS TABLE (
    device text,
    name text,
    memory bigint,
    compute_capability text,
    driver text,
    runtime text,
    libraries text,
    status text)
AS 'MODULE_PATHNAME', 'gnngp_device' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;
COMMENT ON FUNCTION @extschema@.gp_device() IS
    'the devices to compute on: the CPU, and each GPU or the reason why there is none';

-- A missing OpenBLAS is told now, not by the first fit.  The function is for this moment alone.
CREATE FUNCTION gnngp_internal.gp_check_blas() RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_check_blas' LANGUAGE C VOLATILE;

SELECT gnngp_internal.gp_check_blas();

DROP FUNCTION gnngp_internal.gp_check_blas();
