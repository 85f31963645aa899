-- Models

CREATE FUNCTION @extschema@.gp_drop_model(model text) RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_drop_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_drop_model(text) IS 'drop a model; its graph stays';

CREATE FUNCTION @extschema@.gp_grant(model text, grantee name) RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_grant' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_grant(text, name) IS 'let a role, or public, read a model; gp_revoke(model, grantee) takes it back';

CREATE FUNCTION @extschema@.gp_revoke(model text, grantee name) RETURNS void
AS 'MODULE_PATHNAME', 'gnngp_revoke' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.gp_revoke(text, name) IS 'take back what gp_grant gave';

CREATE PROCEDURE @extschema@.gp_refresh(model text)
AS 'MODULE_PATHNAME', 'gnngp_refresh' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.gp_refresh(text) IS
    'fit a model again with the same settings and swap the result in; the view gp_refreshes shows the outcome';
