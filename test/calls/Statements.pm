# Statements.pm - the forms in which functions, operators, types and views are used.
#
# A statement is a hash: sql; what (the objects that it calls); for a protocol of more than a query string,
# parameters, rows and binary; and copy, what COPY FROM STDIN is given.
package Statements;

use strict;
use warnings;
use Dice qw(one below chance damage literal weighted);
use Values;

our $world;
my @weighted_functions;

# Takes the catalog's objects; functions that work on graphs and models are called most.
sub use_world
{
	($world) = @_;
	$Values::world = $world;
	@weighted_functions = map {
		my $f = $_;
		my $deep = grep { $_->{name} =~ /^(graph|model|factor)$/ } @{ $f->{arguments} };
		($f->{internal} ? 1 : $f->{kind} eq 'a' ? 4 : $f->{name} =~ /drop/ ? 2 : $deep ? 9 : 1, $f);
	} @{ $world->{functions} };
	return;
}

# A function's name, with its schema where that is on no search_path, and now and then otherwise.
sub name_of
{
	my ($f) = @_;

	return $f->{schema} eq 'gnngp_internal' || chance(0.2) ? "$f->{schema}.$f->{name}" : $f->{name};
}

# What the arguments of one call share.
sub call_of
{
	my ($f) = @_;
	my $risk = one(0.01, 0.02, 0.05, 0.15, 0.5);
	my $subject = one(@Values::subjects);

	return { name => $f->{name}, result => $f->{result}, risk => $risk, subject => $subject, idtype => Values::id_type($subject, $risk) };
}

# The arguments: by place, then by name; those with a default may be left out.
sub arguments
{
	my ($f, $call) = @_;
	my @arguments = @{ $f->{arguments} };
	my (@list, $by_name);

	for my $i (0 .. $#arguments)
	{
		my $argument = $arguments[$i];
		if ($i >= $f->{required} && chance(0.5)) { $by_name = 1; next }
		next if $by_name && $argument->{name} eq '';
		$by_name = 1 if $argument->{name} ne '' && chance(0.1);
		my $value = Values::argument($argument, $call);
		push @list, $by_name && $argument->{name} ne '' ? qq("$argument->{name}" => $value) : $value;
	}
	push @list, Values::hostile('text') if chance(0.003);
	pop @list if chance(0.003);
	return join ', ', @list;
}

# The text of a call.
sub call_text
{
	my ($f, $call) = @_;

	return name_of($f) . '(' . arguments($f, $call // call_of($f)) . ')';
}

# An argument of an aggregate, from the columns of a table.
sub aggregated
{
	my ($argument, $call) = @_;
	my ($type, $name) = @$argument{qw(type name)};

	return Values::argument($argument, $call) if chance($call->{risk});
	return $name =~ /dst/ ? 't.b' : 't.a' if $type eq 'bigint';
	return 't.w' if $type =~ /double|real|numeric/ && $type !~ /\[/;
	return "t.x::$type" if $type =~ /\[\]$/;
	return $call->{constant}{$name} //= Values::argument($argument, $call);
}

# A query with an aggregate.
sub aggregate
{
	my ($f) = @_;
	my $call = call_of($f);
	my $name = name_of($f);
	my $rows = one('SELECT src AS a, dst AS b, w, ARRAY[src, w] AS x FROM e_int', 'SELECT i AS a, i * i % 17 AS b, i::float8 AS w, ARRAY[i, 1, 2] AS x FROM generate_series(1::bigint, 30) i',
		'SELECT src AS a, dst AS b, w, ARRAY[w] AS x FROM e_big', 'SELECT src AS a, dst AS b, w, ARRAY[w] AS x FROM e_dirty',
		'SELECT id AS a, a AS b, b AS w, x FROM n_int', 'SELECT 1::bigint AS a, 2::bigint AS b, 1.0::float8 AS w, ARRAY[1] AS x WHERE false',
		'SELECT (i::numeric * 9223372036854775807 / 5)::bigint AS a, (-i)::bigint AS b, 1e300 AS w, ARRAY[i, i] AS x FROM generate_series(-5, 5) i');
	my $list = join ', ', map { aggregated($_, $call) } @{ $f->{arguments} };

	$list = "DISTINCT $list" if chance(0.03);
	$list .= one(' ORDER BY t.a', ' ORDER BY t.w DESC, t.a') if chance(0.1);
	my $text = "$name($list)";
	$text .= ' FILTER (WHERE ' . one('t.a > 3', 'false', 't.a IS NOT NULL AND t.b IS NOT NULL') . ')' if chance(0.15);
	return "SELECT t.a, $text OVER (" . one('', 'ORDER BY t.a', 'PARTITION BY t.a % 3 ORDER BY t.b ROWS 2 PRECEDING') . ") FROM ($rows) t" if chance(0.06);
	return "SELECT t.a % 3, $text FROM ($rows) t GROUP BY " . one('1', 'ROLLUP (1)', 'CUBE (t.a % 3)') if chance(0.2);
	return "SELECT $text FROM ($rows) t HAVING count(*) > " . below(3) if chance(0.05);
	return "SELECT $text FROM ($rows) t";
}

# A query that calls a function for rows of a table.
sub lateral
{
	my ($f) = @_;
	my $call = call_of($f);
	my $from;

	if (chance(0.3)) { $call->{model} = 'm.model'; $from = 'gp_models m' }
	else { $call->{node} = 'n.id'; $from = '(SELECT id FROM ' . one('n_int', 'n_text', 'n_uuid', 'n_num', 'n_empty') . one('', ' ORDER BY id', ' LIMIT 3') . ') n' }
	return "SELECT * FROM $from" . one(', LATERAL ', ' CROSS JOIN LATERAL ') . call_text($f, $call) . ' f' . one('', ' LIMIT 7')
		if $f->{set} && chance(0.8);
	return 'SELECT ' . call_text($f, $call) . " FROM $from";
}

# A query that calls a function.
sub select_of
{
	my ($f) = @_;
	my $call = call_of($f);
	my $text = call_text($f, $call);

	return aggregate($f) if $f->{kind} eq 'a';
	return "CALL $text" if $f->{kind} eq 'p';
	return weighted(
		14, "SELECT * FROM $text",
		6, "SELECT $text",
		2, "SELECT count(*) FROM $text",
		2, "SELECT * FROM $text LIMIT " . one(0, 1, 5) . one('', ' OFFSET 2'),
		1, "SELECT * FROM $text AS f ORDER BY 1" . one('', ' DESC', ', f LIMIT 3'),
		1, "SELECT * FROM generate_series(1, " . one(1, 2, 3) . ") i, LATERAL $text f",
		1, "SELECT i, $text FROM generate_series(1, 3) i",
		3, lateral($f),
		1, "SELECT * FROM $text WITH ORDINALITY",
		1, "SELECT f FROM $text f",
		1, "SELECT * FROM ROWS FROM ($text, generate_series(1, 3))",
		1, "(SELECT * FROM $text) UNION ALL (SELECT * FROM " . call_text($f, $call) . ' LIMIT 2)',
		1, "SELECT EXISTS (SELECT FROM $text)",
		1, "WITH c AS MATERIALIZED (SELECT * FROM $text) SELECT * FROM c a, c b LIMIT 9",
		1, "SELECT CASE WHEN random() < 2 THEN ($text)::text END",
		0.5, "SELECT ($text).*");
}

# Wraps a query: cursors, prepared statements, subtransactions and so on.
sub wrapped
{
	my ($query) = @_;
	my $wait = one('', '', 'SCROLL ', 'NO SCROLL ');
	my $is_call = $query =~ /^CALL/;

	return $query if chance(0.55) || $is_call && chance(0.5);
	return "DO \$do\$ BEGIN $query; END \$do\$" if $is_call;
	return weighted(
		3, "BEGIN; DECLARE c ${wait}CURSOR FOR $query; FETCH " . one(1, 3, 'ALL', 'BACKWARD 1', 'LAST', 0) . ' FROM c; ' . one('CLOSE c; ', 'MOVE BACKWARD 2 IN c; ', '', 'SAVEPOINT s; FETCH 2 FROM c; ROLLBACK TO s; FETCH 1 FROM c; ') . one('COMMIT', 'ROLLBACK'),
		1, "BEGIN; DECLARE h CURSOR WITH HOLD FOR $query; COMMIT; FETCH 2 FROM h; CLOSE h",
		3, "DEALLOCATE ALL; PREPARE p AS $query; " . join('; ', ('EXECUTE p') x one(1, 2, 7)),
		2, "EXPLAIN " . one('', '(VERBOSE) ', '(COSTS OFF) ') . $query,
		2, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) $query",
		3, "DO \$do\$ DECLARE r record; BEGIN FOR r IN $query LOOP " . one('NULL', 'EXIT', 'RAISE EXCEPTION \'stop\'') . '; END LOOP; EXCEPTION WHEN ' . one('OTHERS', 'OTHERS', 'division_by_zero') . " THEN IF SQLSTATE LIKE 'XX%' THEN RAISE; END IF; END \$do\$",
		2, "BEGIN; SAVEPOINT a; $query; ROLLBACK TO a; $query; " . one('COMMIT', 'ROLLBACK', 'RELEASE a; COMMIT'),
		2, "BEGIN; $query; " . one('COMMIT', 'ROLLBACK', "$query; COMMIT"),
		2, "DROP TABLE IF EXISTS pg_temp.kept; CREATE TEMP TABLE kept AS $query",
		1, "COPY ($query) TO STDOUT" . one('', ' (FORMAT binary)', ' (FORMAT csv)'),
		1, "CREATE OR REPLACE TEMP VIEW seen AS $query; SELECT * FROM seen",
		1, "SET LOCAL statement_timeout = " . one(1, 3, 10, 30) . "; $query",
		1, "BEGIN " . one('READ ONLY', 'ISOLATION LEVEL SERIALIZABLE', 'ISOLATION LEVEL REPEATABLE READ') . "; $query; COMMIT",
		1, "$query; $query");
}

# One function, in some form.
sub function
{
	my $f = weighted(@weighted_functions);
	my $query = select_of($f);

	return { sql => wrapped($query), what => [$f] };
}

# An operator: on values, in a join, in an index scan.
sub operator
{
	my $o = one(@{ $world->{operators} });
	my $call = call_of({ name => '' });
	my ($left, $right) = map { Values::argument({ type => $_, name => '' }, $call) } $o->{left}, $o->{right};
	my ($l, $r) = map { $world->{column}{$_} } $o->{left}, $o->{right};
	my $sql = weighted(
		3, "SELECT $left $o->{name} $right",
		$l && $r ? (2, "SELECT count(*) FROM vals a " . one('', 'LEFT ', 'FULL ') . "JOIN vals b ON a.$l $o->{name} b.$r",
			1, "SELECT k FROM vals WHERE $l $o->{name} $right",
			1, "SELECT $left $o->{name} ANY (SELECT $r FROM vals)",
			1, "SELECT $left $o->{name} ALL (ARRAY(SELECT $r FROM vals))",
			1, "SELECT k FROM vals WHERE ROW($l, k) $o->{name} ROW($right, 2)") : ());

	return { sql => wrapped($sql), what => [$o] };
}

# A cast.
sub cast
{
	my $c = one(@{ $world->{casts} });
	my $call = call_of({ name => '' });
	my $value = Values::argument({ type => $c->{source}, name => $c->{target} =~ /kernel/ ? 'kernel' : '' }, $call);

	$value = Values::literal(Kernels::any()) if $c->{target} =~ /kernel/ && chance(0.6);
	return { sql => wrapped("SELECT CAST($value\::$c->{source} AS $c->{target})"), what => [$c] };
}

# A type of which there are no values in the table vals: any text and any bytes.
sub plain_type
{
	my ($t) = @_;

	return { sql => "SELECT \$1::$t->{name}", what => [$t], rows => 0, binary => below(2),
		parameters => [ [ $t->{oid}, join('', map { chr below(one(2, 256)) } 1 .. one(0, 1, 4, 4, 8, 20)), 1 ] ] } if chance(0.3);
	return { sql => wrapped("SELECT " . Values::hostile('text') . "::text::$t->{name}"), what => [$t] } if chance(0.3);
	return { sql => wrapped('SELECT ' . Values::literal(one('', '0', '10', '-1', 'calls_ann', 'postgres', '{}', '1,2', 'x' x 100)) . "::$t->{name}" . one('', '::text')), what => [$t] };
}

# A type: its input, output, receive and send functions, indexes, sorts, and groups.
sub type
{
	my $t = one(@{ $world->{types} });
	my $name = $t->{name};
	my $column = $world->{column}{$name} or return plain_type($t);
	my $kernel = $name =~ /kernel/;
	my $bytes = chance(0.2) ? one(@{ $world->{bytes}{$name} }) : $kernel ? Kernels::any() : Values::damaged_bytes($name);
	my $text = $kernel ? Kernels::any() : Values::mutated($name);

	$bytes = "\x01$bytes" if $kernel && chance(0.5);
	if (chance(0.35))
	{
		return { sql => "SELECT \$1::$name", what => [$t], parameters => [ [ $world->{oid}{$name}, $bytes, 1 ] ], rows => one(0, 1), binary => below(2) };
	}
	return { sql => "CREATE TEMP TABLE IF NOT EXISTS got (v $name); COPY got FROM STDIN (FORMAT binary)", what => [$t],
		copy => "PGCOPY\n\377\r\n\0" . pack('NNnN/a*n', 0, 0, 1, $bytes, 0xFFFF) } if chance(0.1);
	return { sql => wrapped(one(
		'SELECT ' . Values::literal($text) . "::$name",
		'SELECT ' . Values::literal($text) . "::$name\::text\::$name",
		"SELECT " . Values::literal('{' . join(',', map { qq("$_") } map { s/["\\]//gr } $text, $text) . '}') . "::$name\[]",
		"SELECT (v).$column FROM (SELECT ROW(1, " . join(', ', map { $_ eq $column ? Values::literal($text) : 'NULL' } @{ $world->{columns} }) . ')::vals AS v) v',
		"SELECT $column, count(*) FROM vals GROUP BY 1",
		"SELECT DISTINCT $column FROM vals",
		"SELECT $column FROM vals ORDER BY 1",
		"SELECT max(pg_column_size($column)), count(DISTINCT $column\::text) FROM vals",
		"SELECT array_agg($column) FROM vals",
		"SELECT json_agg(v) FROM vals v",
		"SELECT v = v FROM vals v",
		"SELECT hash_record(v) FROM vals v",
		"SELECT $column FROM vals UNION SELECT $column FROM vals",
		"SELECT lag($column) OVER (ORDER BY k), first_value($column) OVER (PARTITION BY k % 2) FROM vals")), what => [$t] } if chance(0.8);
	return { sql => one(
		"CREATE INDEX ON vals USING hash ($column)", "CREATE INDEX ON vals ($column)", "ANALYZE vals",
		"BEGIN; CREATE INDEX ON vals USING hash ($column); SET LOCAL enable_seqscan = off; SELECT k FROM vals WHERE $column = (SELECT $column FROM vals WHERE k = 2); ROLLBACK",
		"CREATE TEMP TABLE parted (v $name) PARTITION BY HASH (v); CREATE TEMP TABLE part0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TEMP TABLE part1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1); INSERT INTO parted SELECT $column FROM vals; DROP TABLE parted",
		"COPY vals TO STDOUT", "COPY vals TO STDOUT (FORMAT binary)"), what => [$t] };
}

# A view, or a table of the extension.
sub relation
{
	my $r = one(@{ $world->{relations} });
	my $sql = $r->{view} || chance(0.7)
		? wrapped("SELECT " . one('*', '*', 'count(*)') . " FROM $r->{name}" . one('', '', ' LIMIT 1', ' t WHERE t IS NOT NULL', " t WHERE t::text LIKE '%a%'"))
		: one("DELETE FROM $r->{name}", "UPDATE $r->{name} SET id = 0", "INSERT INTO $r->{name} SELECT * FROM $r->{name}", "TRUNCATE $r->{name}", "LOCK $r->{name}",
		"DROP TABLE $r->{name}", "ALTER TABLE $r->{name} DISABLE ROW LEVEL SECURITY", "SELECT * FROM $r->{name} FOR UPDATE", "COPY $r->{name} TO STDOUT", "SELECT ctid, xmin, * FROM $r->{name}");

	# What a superuser may do here is to damage, and no fault of anybody; calls_bob may be one.
	return { sql => $r->{view} ? $sql : "SET ROLE calls_ann; $sql; RESET ROLE", what => [$r] };
}

# One call of anything.
sub any
{
	return weighted(80, \&function, 5, \&operator, 3, \&cast, 8, \&type, 4, \&relation)->();
}

1;
