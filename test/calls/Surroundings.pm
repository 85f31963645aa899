# Surroundings.pm - what goes on between the calls: settings, roles, and changes to the tables.
package Surroundings;

use strict;
use warnings;
use Dice qw(one below chance literal weighted);

our $world;
my @tables = qw(n_int e_int s_int n_text e_text n_uuid e_uuid n_num e_num n_one n_empty e_empty v_n v_e mv_n p_n vals n_big
	people people goods buys buys asked e_timed e_items);

# A value for a setting of the extension.
sub value
{
	my ($setting) = @_;

	return one('on', 'off') if $setting->{type} eq 'bool';
	return literal(one('auto', 'cpu', 'cuda', 'CPU', '', 'x', 'gpu')) if $setting->{type} =~ /string|enum/;
	return one($setting->{min}, $setting->{min} + 1, $setting->{min} + below(5), $setting->{max}, 1024, 4096, 65536, -1, 'DEFAULT', 'DEFAULT');
}

# A setting.
sub setting
{
	my $local = one('', '', 'LOCAL ');

	if (chance(0.35))
	{
		my $s = one(@{ $world->{settings} });
		return "SET $local$s->{name} = " . value($s);
	}
	return "SET $local" . one(
		'work_mem = ' . one(64, 1024, 65536), 'DateStyle = ' . one("'SQL, DMY'", "'German'", "'ISO'"), "TimeZone = 'Asia/Kathmandu'",
		'search_path = ' . one("''", 'pg_catalog', '"odd gp"', 'stage, "odd gp"', 'DEFAULT', 'nowhere', 'pg_temp, stage, "odd gp"'),
		'extra_float_digits = ' . one(-15, 0, 3), 'bytea_output = escape', "lc_messages = 'C'", 'row_security = off', 'enable_hashjoin = off', 'enable_mergejoin = off',
		'enable_hashagg = off', 'enable_sort = off', 'enable_seqscan = off', 'plan_cache_mode = ' . one('force_generic_plan', 'force_custom_plan'),
		'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0', 'max_parallel_workers_per_gather = ' . one(0, 2), 'force_parallel_mode = on', 'debug_parallel_query = on',
		'standard_conforming_strings = off', 'default_transaction_read_only = on', 'default_transaction_isolation = serializable', 'jit = off',
		"IntervalStyle = 'iso_8601'", 'cursor_tuple_fraction = 0.5', 'xmlbinary = hex', 'max_stack_depth = ' . one("'100kB'", "'2MB'", "'7MB'"),
		'statement_timeout = ' . one(1, 2, 5, 10, 20, 50, 100, 100, 'DEFAULT', 'DEFAULT')) if chance(0.85);
	return one('RESET ALL', 'DISCARD ALL', 'DISCARD PLANS', 'DISCARD TEMP', 'SET CONSTRAINTS ALL DEFERRED');
}

# A change to a table.
sub change
{
	my $t = one(@tables);
	my $c = one(qw(id x a b y z v src dst w person good at amount returned joined kind answer));

	return one(
		"ALTER TABLE $t RENAME COLUMN $c TO " . one('other', "\"od'd\""), "ALTER TABLE $t DROP COLUMN $c CASCADE", "ALTER TABLE $t ADD COLUMN added text",
		"ALTER TABLE $t ALTER COLUMN $c TYPE " . one('text', 'numeric', 'smallint', 'float8') . " USING $c\::" . one('text', 'text::smallint', 'text::numeric'),
		"ALTER TABLE $t RENAME TO renamed", "DROP TABLE $t CASCADE", "TRUNCATE $t", "DELETE FROM $t WHERE ctid < '(0,5)'", "UPDATE $t SET $c = NULL",
		"INSERT INTO $t SELECT * FROM $t LIMIT 1", "UPDATE n_int SET b = " . one("'NaN'", "'Infinity'", '1e300', '-0.0'), "UPDATE e_int SET w = " . one("'NaN'", '-1', '0', '1e308', '5e-324'),
		"UPDATE n_int SET x = " . one("'{}'", "'{NaN}'", "'{NULL}'", "'{{1,2},{3,4}}'", "array_fill(1::real, ARRAY[2000])", "'{1e38,1e38}'", "'[5:6]={1,2}'"),
		"UPDATE n_int SET y = " . one("repeat('x', 70000)", "''", "id::text", "'one'"), "UPDATE n_int SET v = " . one("'NaN'", '1e308', '0', 'id * 1e-320'),
		"UPDATE n_int SET id = id + " . one('9223372036854775000', '100000'), "INSERT INTO e_int SELECT src, dst FROM e_int", "UPDATE e_int SET dst = src",
		"INSERT INTO e_int SELECT a.id, b.id FROM n_int a, n_int b", "ALTER TABLE $t ENABLE ROW LEVEL SECURITY", "REVOKE SELECT ON $t FROM calls_ann", "GRANT SELECT ON $t TO PUBLIC",
		"CREATE OR REPLACE VIEW v_n AS SELECT * FROM n_int WHERE id / (id - 5) > 0", "REFRESH MATERIALIZED VIEW mv_n", "DROP VIEW v_e CASCADE; CREATE VIEW v_e AS SELECT dst AS src, src AS dst, w FROM e_int",
		"ALTER TABLE $t OWNER TO calls_bob", "ALTER TABLE $t SET SCHEMA public", "VACUUM $t", "ANALYZE", "CREATE RULE r AS ON UPDATE TO $t DO INSTEAD NOTHING",
		"UPDATE s_int SET feature = " . one('feature + 0.5', '-1', 'NULL', '2000000000', 'feature * 1000'), "UPDATE s_int SET value = " . one("'NaN'", '0', "'Infinity'"),
		"UPDATE buys SET at = " . one("'infinity'", "'-infinity'", "'4714-11-24 BC'", "'2024-01-01'", "at + interval '1000 years'"), "UPDATE people SET joined = " . one("'infinity'", "'2030-01-01'"),
		"INSERT INTO buys SELECT 1000 + i, 1 + i % 30, NULL, now(), 'NaN', i % 2 = 0 FROM generate_series(1, 50) i", "UPDATE asked SET answer = " . one("'NaN'", "'Infinity'", '-answer', 'NULL', '1e38'),
		"UPDATE e_timed SET at = " . one("'infinity'", "'2024-01-01'", 'NULL'), "UPDATE e_timed SET amount = " . one("'NaN'", '1e308', '0'), "ALTER TABLE buys DROP CONSTRAINT " . one('buys_pkey', 'buys_person_fkey'), "ALTER TABLE people DROP CONSTRAINT people_pkey CASCADE",
		"UPDATE people SET region = " . one("repeat('x', 70000)", 'md5(id::text)', 'NULL'), "DELETE FROM people", "TRUNCATE buys", "ALTER TABLE buys ALTER at DROP NOT NULL",
		'DROP OWNED BY calls_bob', 'REASSIGN OWNED BY calls_bob TO calls_ann');
}

# A change that is undone at the end of the transaction it stands in: roles are shared by all databases.
sub role_change
{
	return one('ALTER ROLE calls_ann RENAME TO calls_carl', 'ALTER ROLE calls_ann RENAME TO calls_carl; CREATE ROLE calls_ann', 'GRANT calls_ann TO calls_bob',
		'CREATE ROLE calls_carl; GRANT calls_carl TO calls_ann', 'ALTER ROLE calls_bob SUPERUSER', 'REASSIGN OWNED BY calls_ann TO calls_bob', 'DROP OWNED BY calls_bob');
}

# Who calls.
sub role
{
	return one('RESET ROLE', 'SET ROLE calls_ann', 'SET ROLE calls_bob', 'SET SESSION AUTHORIZATION calls_ann', 'RESET SESSION AUTHORIZATION', 'SET LOCAL ROLE calls_bob');
}

# Something between two calls, or nothing.
sub any
{
	return weighted(68, sub { undef }, 14, \&setting, 4, \&role,
		2, \&change,
		5, sub { 'BEGIN; ' . change() },
		2, sub { 'BEGIN; ' . role_change() },
		3, sub { one('BEGIN', 'BEGIN READ ONLY', 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SAVEPOINT a', 'ROLLBACK TO a', 'COMMIT', 'ROLLBACK') },
		2, sub { one('ROLLBACK', 'RESET ALL', 'RESET SESSION AUTHORIZATION') })->();
}

1;
