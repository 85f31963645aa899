# Values.pm - arguments: likely ones, and hostile ones.  Each function gives an expression of SQL.
package Values;

use strict;
use warnings;
use Dice qw(one below chance damage literal weighted);
use Kernels;
use MIME::Base64 qw(encode_base64);

our $world;			# what Catalog read
our %words;			# options' words by argument, from the reference; '': of all
our @subjects = qw(int int int val val text text uuid uuid num num sparse view part plain big nested edgeless one empty dirty
	labels broken nys rbf bobs live timed paid items learnt deep shop again again returned answers kind);
my $without_model = qr/^(nested|one|empty|dirty|labels|broken|plain|shop)$/;
my %id_type = (text => 'text', uuid => 'uuid', num => 'numeric', kind => 'text');
my @schema = qw(people goods buys asked n_int e_int);
my @tables = qw(people goods buys asked e_timed e_items n_int e_int s_int n_text e_text n_uuid e_uuid n_num e_num n_empty e_empty n_one n_big e_big n_dirty e_dirty v_n v_e
	v_broken v_nested mv_n p_n p_n1 vals "Quoted"+ sq ix_int n_int_pkey pg_class gp_models gnngp_internal.gp_block gnngp_internal.gp_graph_catalog pair
	information_schema.columns pg_toast.pg_toast_2619);
my @columns = qw(id x a b c y z v u m d xx src dst w node feature value person good at amount returned);
my @texts = ('', ' ', 'NULL', "it's", '"', '\\', '%s%n%d', "\xc3\xa9", "\xf0\x9f\x90\x98", 'a.b', '.', '..', 'calls_ann.', '.int', '"calls_ann"."int"',
	'x' x 63, 'x' x 64, "\xc3\xa9" x 40, 'x' x 5000, 'z' x 300000, "\t\n", '{1,2}', '(1,2)', 'public', '-1', '0', '1e309', '$1', ';');
my @integers = (0, 1, -1, 2, 3, 10, 100, 2147483647, '(-2147483648)', '(-1)', 65536, 1 << 20);
my @bigints = (@integers, '9223372036854775807', '(-9223372036854775808)', '4294967296', '2147483648', '(1::bigint << 53)');
my @floats = ('0', '-0.0', '1', '0.1', '1e-3', '10', '-1', '1e308', '-1e308', '1e-308', '5e-324', "'NaN'", "'Infinity'", "'-Infinity'", '1e-12');

# The types that ids can have, and odd ones.
sub id_type
{
	my ($subject, $risk) = @_;

	return $id_type{$subject} // one('bigint', 'bigint', 'integer', 'smallint') unless chance($risk);
	return one('bigint', 'integer', 'smallint', 'text', 'uuid', 'numeric', 'positive', 'date', 'boolean', 'float8', 'name', 'mood', 'bytea',
		'varchar(3)', '"char"', 'pair', 'gp_kernel', 'gp_graph', 'point', 'json', 'xml', 'int4range', 'oid', 'regclass', 'bpchar', 'void', 'record');
}

# A node of such a type.
sub id
{
	my ($type, $risk) = @_;
	my $i = 1 + below(40);

	return "NULL::$type" if chance($risk / 3);
	return hostile($type) if chance($risk);
	return literal(one("n'$i", "n'$i", "g$i")) . '::text' if $type =~ /^(text|name|varchar.*|bpchar)$/;
	return sprintf "'00000000-0000-0000-0000-%012d'::uuid", $i if $type eq 'uuid';
	return one($i, $i / 2, "$i.0", "'NaN'") . "::$type" if $type eq 'numeric';
	return "$i\::$type" if $type =~ /int|float|oid|positive/;
	return one("'t'", "'2020-01-01'", "'{}'", "'(1,2)'", "'sad'", "'1'", 'NULL') . "::$type";
}

# An array of such elements.
sub array_of
{
	my ($type, $risk, $element) = @_;
	my $n = one(0, 1, 1, 2, 3, 8, 30);

	return "NULL::$type\[]" if chance(0.1 + $risk / 2);
	if (chance($risk))
	{
		return one("ARRAY[ARRAY[NULL, NULL], ARRAY[NULL, NULL]]::$type\[]", "'{}'::$type\[]", "'[0:1]={1,2}'::$type\[]", "'[-5:-4][2:2]={{1},{2}}'::$type\[]",
			"array_fill(NULL::$type, ARRAY[" . one(1, 3, 1000, 100000) . '])', "(SELECT array_agg(i::$type) FROM generate_series(1, " . one(10, 5000, 60000) . ') i)',
			"ARRAY[ARRAY[1, 2], ARRAY[3, 4]]::$type\[]", "'{1,NULL,2}'::$type\[]");
	}
	return 'ARRAY[' . join(', ', map { $element->() } 1 .. $n) . "]::$type\[]";
}

# What hardly fits.
sub hostile
{
	my ($type) = @_;

	return 'NULL' if chance(0.15);
	return one(@integers, '32767', '(-32768)') if $type =~ /^(integer|smallint)$/;
	return one(@bigints) if $type eq 'bigint';
	return one(@floats) . '::float8' if $type =~ /^(double precision|real|float8)$/;
	return one(@floats) . '::numeric' if $type eq 'numeric' && chance(0.5);
	return literal(one(@texts)) . ($type eq 'text' ? '::text' : '') if $type =~ /^(text|name|cstring|varchar.*)$/;
	return literal(damage(one(@texts))) . "::$type" if chance(0.3);
	return one('1', '0', 'true', "'x'::text", "'{1,2}'::int[]", 'ROW(1, 2)', '(SELECT 1 WHERE false)', 'now()', "'\\x00ff'::bytea");
}

# A value of one of the extension's types.
sub of_extension
{
	my ($type, $risk) = @_;
	my $column = $world->{column}{$type};

	return kernel($type, $risk) if $type =~ /gp_kernel$/;
	return "NULL::$type" if chance($risk / 3);
	return literal(one(@texts)) . "::$type" unless defined $column;
	return '(SELECT ' . $column . ' FROM vals WHERE k = ' . (1 + below(5)) . ')' unless chance($risk);
	return literal(mutated($type)) . "::$type";
}

# The text of a value, damaged: in its bytes, or in the text itself.
sub mutated
{
	my ($type) = @_;

	return damage(one(@{ $world->{texts}{$type} })) if chance(0.2);
	return encode_base64(damaged_bytes($type), '');
}

# The bytes of a value, with a few of them changed.
sub damaged_bytes
{
	my ($type) = @_;
	my $bytes = one(@{ $world->{bytes}{$type} });
	# Small values change more deeply.
	my $end = chance(0.5) ? length $bytes : 8;

	for (1 .. one(1, 1, 2, 4))
	{
		my $at = below($end < length $bytes ? $end : length $bytes);
		my $what = below(6);
		if ($what == 0) { substr $bytes, $at, 1, chr below(256) if $at < length $bytes }
		elsif ($what == 1) { substr $bytes, $at, 1, chr(ord(substr $bytes, $at, 1) ^ 1 << below(8)) if $at < length $bytes }
		elsif ($what == 2) { substr $bytes, $at, 0, one("\xff\xff\xff\xff\x0f", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "\0", "\xff" x 9 . "\x01") }
		elsif ($what == 3) { $bytes = substr $bytes, 0, $at }
		elsif ($what == 4) { $bytes .= one("\0", "\x01\x02\x03", "\0\0\xc0\x7f", "\0\0\x80\x7f") }
		else { substr $bytes, $at, one(1, 4, 8), one("\0\0\xc0\x7f", "\xff\xff\x7f\x7f", "\0\0\0\x80", "\x01\0\0\0") if $at < length $bytes }
	}
	return $bytes;
}

# The text that an input function is given.
sub input
{
	my ($type, $risk) = @_;
	my $texts = $world->{texts}{ $type // '' };

	return literal(one(@texts)) if !$texts || chance($risk);
	return literal(chance(0.5) ? one(@$texts) : mutated($type));
}

# A kernel.
sub kernel
{
	my ($type, $risk) = @_;

	return "NULL::$type" if chance($risk / 4);
	return literal(one(@texts)) . "::$type" if chance($risk / 6);
	return literal(chance(0.06) ? Kernels::deep_one() : chance($risk) ? Kernels::any() : Kernels::valid()) . one('', "::$type", '::text');
}

# The name of a graph or a model.
sub subject
{
	my ($subject, $risk, $name, $new) = @_;

	return hostile('text') if chance($risk * 0.6);
	$subject = one(qw(int val big)) if $name eq 'model' && $subject =~ $without_model && !chance(0.1);
	$subject = one('made', 'made2', 'made3', $subject) if $new && chance(0.6);
	$subject = one('made', 'made2') if chance(0.05);
	$subject = one('q\'u"o.te', "calls_ann.$subject", "calls_bob.$subject", 'nobody.int', 'calls_ann.calls_ann.int') if chance(0.04 + $risk / 5);
	return literal($subject);
}

# The name of a table as a regclass.
sub table
{
	my ($risk, @likely) = @_;

	return one('0', '4294967295', '1259', '999999', 'NULL', "''", "'no_such_table'", "'\"'") if chance($risk / 2);
	my $table = @likely && !chance($risk) ? one(@likely) : one(@tables);
	$table = '"Quoted ""table"' if $table =~ /^"Quoted/;
	return literal($table);
}

# A value for an argument by its type and its name.
sub argument
{
	my ($argument, $call) = @_;
	my ($type, $name) = @$argument{qw(type name)};
	my $risk = $call->{risk};
	my $idtype = $call->{idtype};

	return 'NULL' if $type eq 'internal' || chance($risk / 10);
	# Columns of a table that the call is joined with.
	return $call->{node} if $call->{node} && $type =~ /^(anyelement|bigint)$/ && $name ne 'seed';
	return "ARRAY[$call->{node}]" if $call->{node} && $type =~ /^(anyarray|bigint\[\])$/;
	return $call->{model} if $call->{model} && $name eq 'model';
	return id($idtype, $risk) if $type =~ /^any(element|compatible|nonarray|"any"|enum)$/ || $type eq '"any"';
	return array_of($idtype, $risk, sub { id($idtype, $risk) }) if $type =~ /^any(compatible)?array$/;
	return subject($call->{subject}, $risk, $name, $call->{name} =~ /create/ && $name eq 'graph' || $name eq 'model' && $call->{name} =~ /fit/)
		if $name =~ /^(graph|model)$/ && $type =~ /^(text|name)$/;
	return table($risk, @schema) if $type eq 'regclass' && $name =~ /^(tables|entity|labels)$/;
	return table($risk, $name eq 'edges' ? qw(e_int e_text e_big v_e e_uuid) : $name =~ /sparse/ ? 's_int' : qw(n_int n_text n_big v_n p_n n_uuid))
		if $type eq 'regclass';
	return one('calls_bob', 'calls_ann', 'public', 'postgres', 'nobody') =~ s/(.*)/'$1'/r if $name =~ /grantee|owner|role/ && !chance($risk);
	if ($name eq 'features' && $type eq 'text[]')
	{
		return one('NULL', "'{x}'", "'{x}'", "'{a,b}'", "'{a,b,c}'", "'{b}'", "'{xx}'", "'{id}'") unless chance($risk);
		return 'ARRAY[' . join(', ', map { literal(one(@columns, @texts)) } 1 .. below(4)) . ']::text[]';
	}
	return wish($name) if $type =~ /^(jsonb|interval|timestamp with time zone)$/ || $type eq 'text' && $name =~ /^(target|filter)$/ && !chance($risk);
	return literal(chance($risk) ? one(@texts, @columns) : $name =~ /^(id|src|dst)$/ ? $name : $name =~ /weight/ ? 'w' : one(qw(y z v u m))) if $type eq 'name';
	return number($type, $name, $risk) if $type =~ /^(integer|bigint|smallint|double precision|real|numeric|float8)$/;
	return one('true', 'false', 'NULL') if $type eq 'boolean';
	return chance($risk) ? hostile('text') : literal(one(@{ $words{ chance($risk) ? '' : $name } // $words{''} })) if $type =~ /^text$|gp_class$/;
	return of_extension($type, $risk) if exists $world->{column}{$type};
	return input($call->{result}, $risk) . '::cstring' if $type eq 'cstring';
	if ($type =~ /^(.*)\[\]$/)
	{
		my $element = $1;
		return array_of($element, $risk, sub { argument({ type => $element, name => $name }, $call) });
	}
	return chance($risk) ? hostile($type) : literal(one('1', '2020-01-01', 'a', '{}')) . "::$type";
}

# What tasks and graphs of tables are given.
sub wish
{
	my ($name) = @_;

	return literal(one('{"buys": "at"}', '{"people": null}', '{"asked": "at", "buys": "at"}', '{"buys.returned": null}', '{}', '[]', '3', '{"": ""}', '{"buys": 3}', '{"nowhere": "at"}', '{"people(joined,at)": "joined"}'))
		if $name eq 'times';
	return literal(one('{"asked.person": "people.id"}', '{"buys.id": "goods.id"}', '{"buys(person,id)": "people(id,age)"}', '{}', 'null', '{"e_int.src": "people.id"}', '{"buys.person": 1}', '{"a.b.c": "d.e"}', '{"(": ")"}'))
		if $name eq 'keys';
	return literal(one('buys.returned', 'people.age', 'goods.kind', 'goods.price', 'buys.person', 'people', '.', 'e.age', 'e.age > 30', 'true', 'NULL', 't', 'e', 'random()', '(SELECT sum(b.amount) FROM stage.buys b WHERE b.person = e.id AND b.at > t)',
		'(SELECT count(*) FROM gp_predict(\'again\')) + e.id', '1/(e.id - 5)', '(SELECT b.id FROM stage.buys b)', 'EXISTS (SELECT FROM stage.asked a WHERE a.person = e.id AND a.at BETWEEN t AND t + horizon)', 'pg_sleep(1) IS NULL', 'e.id) --')) if $name =~ /target|filter/;
	return literal(one('1 day', '5 days', '1 month', '1 microsecond', '0', '-1 day', '100 years', '178000000 years', '1 mon -30 days')) . '::interval' if $name =~ /horizon|every/;
	return literal(one('2024-02-20', '2024-05-01', '-infinity', 'infinity', '4713-01-01 BC', '294276-01-01', '2024-01-01')) . '::timestamptz';
}

# A number that is in range as often as not.
sub number
{
	my ($type, $name, $risk) = @_;

	return hostile($type) if chance($risk);
	return one('NULL', 'NULL', '0.1', '1', '0.01', '0.5', '10', '1e-6') if $type =~ /double|real|numeric|float/;
	return one('NULL', 4, 8, 12, 20, 64) if $name eq 'landmarks';
	return one(0, 1, 2, 7, 42) if $name eq 'seed';
	return one(1, 1, 2, 3, 5, 10, 40) if $name ne '' || chance(0.3);
	return 1 + below(40);
}

1;
