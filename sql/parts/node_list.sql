-- Calls that name nodes have four forms: ids of any type, arrays of them, a text that
-- serves ids of every type (a literal or a parameter whose type is left open becomes
-- one), and none at all, or a literal that lists integers.  The last has a type of its
-- own: with text as well, PostgreSQL could not tell one id from a list of them.

CREATE DOMAIN @extschema@.gp_node_list AS text;

COMMENT ON DOMAIN @extschema@.gp_node_list IS
    'a literal that lists nodes with integer ids, such as ''{1,2}''';
