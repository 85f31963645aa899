-- The type of roles in the tables of graphs and models.
--
-- A value is a role's oid, so that a role which is renamed keeps what it has and
-- a new role of an old name inherits nothing.  Its text is the role's name of
-- today, so that a dump can be restored where roles have other oids.

CREATE TYPE gnngp_internal.gp_role;

CREATE FUNCTION gnngp_internal.gp_role_in(cstring) RETURNS gnngp_internal.gp_role
AS 'MODULE_PATHNAME', 'gnngp_role_in' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_role_in(cstring) IS
    'the role of a name, or public; a name without a role is kept as that of a role that is gone';

CREATE FUNCTION gnngp_internal.gp_role_out(gnngp_internal.gp_role) RETURNS cstring
AS 'MODULE_PATHNAME', 'gnngp_role_out' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_role_out(gnngp_internal.gp_role) IS
    'the name that a role has now, or pg_gone: and the last known name of a role that is gone';

CREATE FUNCTION gnngp_internal.gp_role_recv(internal) RETURNS gnngp_internal.gp_role
AS 'MODULE_PATHNAME', 'gnngp_role_recv' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_role_recv(internal) IS
    'read a role from its binary form, which is text';

CREATE FUNCTION gnngp_internal.gp_role_send(gnngp_internal.gp_role) RETURNS bytea
AS 'MODULE_PATHNAME', 'gnngp_role_send' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_role_send(gnngp_internal.gp_role) IS
    'the binary form of a role, which is text';

-- Plain storage: the functions look into values without unpacking them.
CREATE TYPE gnngp_internal.gp_role (
    INPUT = gnngp_internal.gp_role_in,
    OUTPUT = gnngp_internal.gp_role_out,
    RECEIVE = gnngp_internal.gp_role_recv,
    SEND = gnngp_internal.gp_role_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = plain
);
COMMENT ON TYPE gnngp_internal.gp_role IS
    'role that owns a graph or model or may read one: its oid, shown as its name';

CREATE FUNCTION gnngp_internal.gp_role_oid(gnngp_internal.gp_role) RETURNS oid
AS 'MODULE_PATHNAME', 'gnngp_role_oid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gnngp_internal.gp_role_oid(gnngp_internal.gp_role) IS
    'for indexes and policies: the oid of a role as it was stored; 0 for public, NULL for a name that had no role';
