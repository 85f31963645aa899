# Catalog.pm - what there is to call, as the server's catalog has it: a new function is called without being
# named here.
package Catalog;

use strict;
use warnings;
use Dice qw(one);

my $members = q{
	FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
		AND d.deptype = 'e' AND e.extname = 'gnngp'};

# Rows of a query.
sub rows
{
	my ($wire, $sql) = @_;
	my $answer = $wire->query($sql, 60);

	die "the catalog could not be read: $answer->{error}{M}\n" if $answer->{error};
	die "the catalog could not be read\n" if $answer->{lost} || $answer->{hang};
	return map { $_->[1] } @{ $answer->{rows} };
}

# Splits what chr(31) joins.
sub list
{
	my ($text) = @_;

	return defined $text && length $text ? split(/\x1f/, $text, -1) : ();
}

# Functions, procedures and aggregates, with their arguments.
sub functions
{
	my ($wire) = @_;
	my @functions;

	for (rows($wire, qq{
		SELECT p.oid, quote_ident(n.nspname), quote_ident(p.proname), p.prokind, p.proretset, p.pronargdefaults,
			p.prorettype::regtype, p.oid::regprocedure,
			(SELECT string_agg(format_type(t, NULL), chr(31) ORDER BY i) FROM unnest(p.proargtypes) WITH ORDINALITY u (t, i)),
			array_to_string(p.proargnames[1:p.pronargs], chr(31))
		$members JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid JOIN pg_namespace n ON n.oid = p.pronamespace
		ORDER BY p.oid::regprocedure::text}))
	{
		my ($oid, $schema, $name, $kind, $set, $defaults, $result, $signature, $types, $names) = @$_;
		my @names = list($names);
		my @types = list($types);
		my @arguments = map { { type => $types[$_], name => $names[$_] // '' } } 0 .. $#types;
		push @functions, { oid => $oid, schema => $schema, name => $name, kind => $kind, set => $set eq 't',
			required => @types - $defaults, result => $result, signature => $signature, arguments => \@arguments,
			internal => !!grep { $_ eq 'internal' } @types };
	}
	return \@functions;
}

# All of it.
sub read
{
	my ($wire) = @_;
	my %world = (functions => functions($wire));

	$world{operators} = [ map { { oid => $_->[0], name => "OPERATOR($_->[1].$_->[2])", left => $_->[3], right => $_->[4], signature => "$_->[2] ($_->[3], $_->[4])" } }
		rows($wire, qq{
		SELECT o.oid, quote_ident(n.nspname), o.oprname, o.oprleft::regtype, o.oprright::regtype
		$members JOIN pg_operator o ON d.classid = 'pg_operator'::regclass AND o.oid = d.objid JOIN pg_namespace n ON n.oid = o.oprnamespace
		ORDER BY o.oid::regoperator::text}) ];
	$world{casts} = [ map { { oid => $_->[0], source => $_->[1], target => $_->[2], signature => "$_->[1] AS $_->[2]" } } rows($wire, qq{
		SELECT c.oid, c.castsource::regtype, c.casttarget::regtype
		$members JOIN pg_cast c ON d.classid = 'pg_cast'::regclass AND c.oid = d.objid ORDER BY 2, 3}) ];
	$world{types} = [ map { { oid => $_->[0], name => $_->[1], signature => $_->[1] } } rows($wire, qq{
		SELECT t.oid, t.oid::regtype $members JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typtype = 'b' AND t.typelem = 0 ORDER BY 2}) ];
	$world{relations} = [ map { { oid => $_->[0], name => $_->[1], view => $_->[2] eq 'v', signature => $_->[1] } } rows($wire, qq{
		SELECT c.oid, c.oid::regclass, c.relkind $members JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
		WHERE c.relkind IN ('r', 'v') ORDER BY 2}) ];
	$world{settings} = [ map { { name => $_->[0], type => $_->[1], min => $_->[2], max => $_->[3] } } rows($wire, q{
		SELECT name, vartype, min_val, max_val FROM pg_settings WHERE name LIKE 'gnngp.%' ORDER BY 1}) ];
	# Columns of the table vals: valid values of the extension's types, and their bytes.
	for (rows($wire, q{SELECT attname, format_type(atttypid, NULL), atttypid FROM pg_attribute
		WHERE attrelid = 'vals'::regclass AND attnum > 0 AND attname <> 'k' ORDER BY attnum}))
	{
		my ($column, $type, $oid) = @$_;
		$world{column}{$type} = $column;
		push @{ $world{columns} }, $column;
		$world{oid}{$type} = $oid;
		$world{texts}{$type} = [ map { $_->[0] } rows($wire, "SELECT $column FROM vals WHERE $column IS NOT NULL ORDER BY k") ];
		my $binary = $wire->execute("SELECT $column FROM vals WHERE $column IS NOT NULL ORDER BY k", 60, [], 0, 1);
		$world{bytes}{$type} = [ map { $_->[1][0] } @{ $binary->{rows} } ];
	}
	return \%world;
}

1;
