# Wire.pm - a client of PostgreSQL's protocol, small and without a library.
#
# psql tells neither the SQLSTATE's routine nor a lost connection from an error,
# and sends no binary parameters.  This one does; trust authentication over a
# Unix socket is all that it knows.
package Wire;

use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);
use Time::HiRes qw(time);

# Connects; undef when the server refuses or is not there.
sub connect
{
	my ($class, %to) = @_;
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => "$to{host}/.s.PGSQL.$to{port}")
		or return;
	my $self = bless { socket => $socket, select => IO::Select->new($socket), buffer => '', status => '?' }, $class;
	my $body = pack('N', 196608) . join('', map { "$_\0" } 'user', $to{user}, 'database', $to{database},
		'client_encoding', 'UTF8', '');

	$self->put(pack('N', 4 + length $body) . $body);
	my $answer = $self->answer(60);
	return if $answer->{lost} || $answer->{error};
	return $self;
}

# Writes bytes; a server that is gone shows when its answer is read.
sub put
{
	my ($self, $bytes) = @_;
	local $SIG{PIPE} = 'IGNORE';

	while (length $bytes)
	{
		my $n = syswrite $self->{socket}, $bytes;
		return unless defined $n;
		substr $bytes, 0, $n, '';
	}
	return;
}

# One message of the protocol.
sub message
{
	my ($type, $body) = @_;

	return $type . pack('N', 4 + length $body) . $body;
}

# The next message, or nothing when the time is up ("hang") or the server gone ("lost").
sub next_message
{
	my ($self, $until) = @_;

	while (1)
	{
		if (length $self->{buffer} >= 5)
		{
			my ($type, $length) = unpack 'aN', $self->{buffer};
			if (length $self->{buffer} >= 1 + $length)
			{
				my $body = substr $self->{buffer}, 5, $length - 4;
				substr $self->{buffer}, 0, 1 + $length, '';
				return ($type, $body);
			}
		}
		my $left = $until - time;
		return ('hang', '') if $left <= 0 || !$self->{select}->can_read($left);
		my $n = sysread $self->{socket}, $self->{buffer}, 1 << 16, length $self->{buffer};
		return ('lost', '') unless $n;
	}
}

# The fields of an error or a notice by their letters.
sub fields
{
	my ($body) = @_;

	return { map { substr($_, 0, 1) => substr $_, 1 } grep { length } split /\0/, $body };
}

# The values of a row; NULL is undef.
sub row
{
	my ($body) = @_;
	my $n = unpack 'n', $body;
	my $at = 2;
	my @row;

	for (1 .. $n)
	{
		my $length = unpack 'N', substr $body, $at, 4;
		$at += 4;
		if ($length == 0xFFFFFFFF) { push @row, undef; next }
		push @row, substr $body, $at, $length;
		$at += $length;
	}
	return \@row;
}

# The names of a result's columns, with their formats.
sub columns
{
	my ($body) = @_;
	my $at = 2;
	my @columns;

	for (1 .. unpack 'n', $body)
	{
		my $end = index $body, "\0", $at;
		my $format = unpack 'n', substr $body, $end + 17, 2;
		push @columns, $format ? '' : substr $body, $at, $end - $at;
		$at = $end + 19;
	}
	return \@columns;
}

# Reads all up to "ready for query".  What COPY FROM STDIN asks for is in copy.
sub answer
{
	my ($self, $seconds, $copy) = @_;
	my $answer = { rows => [], notices => [], states => [], bytes => 0 };
	my $until = time + $seconds;
	my $columns = [];

	while (1)
	{
		my ($type, $body) = $self->next_message($until);
		if ($type eq 'hang' || $type eq 'lost') { $answer->{$type} = 1; return $answer }
		$answer->{bytes} += length $body;
		if ($type eq 'Z') { $self->{status} = $body; return $answer }
		elsif ($type eq 'T') { $columns = columns($body) }
		elsif ($type eq 'D') { push @{ $answer->{rows} }, [ $columns, row($body) ] if @{ $answer->{rows} } < 20000 }
		elsif ($type eq 'E') { $self->failed($answer, fields($body)) }
		elsif ($type eq 'N') { push @{ $answer->{notices} }, fields($body) }
		elsif ($type eq 'K') { $self->{pid} = unpack 'N', $body }
		elsif ($type eq 'G')
		{
			$self->put(defined $copy ? message('d', $copy) . message('c', '') : message('f', "no data\0"));
		}
	}
}

# Keeps an error; the first of several is the one that matters.
sub failed
{
	my ($self, $answer, $fields) = @_;

	push @{ $answer->{states} }, $fields->{C};
	$answer->{error} //= $fields;
	return;
}

# Runs a query string of one or more statements.
sub query
{
	my ($self, $sql, $seconds, $copy) = @_;

	$self->put(message('Q', "$sql\0"));
	return $self->answer($seconds, $copy);
}

# Runs one statement with parameters [type, bytes or undef, binary], taking so many rows at
# a time (0: all), in text or binary.
sub execute
{
	my ($self, $sql, $seconds, $parameters, $rows, $binary) = @_;
	my $n = @$parameters;
	my $all = message('P', "\0$sql\0" . pack 'nN*', $n, map { $_->[0] } @$parameters);

	$all .= message('B', "\0\0" . pack('nn*', $n, map { $_->[2] ? 1 : 0 } @$parameters)
		. pack('n', $n) . join('', map { defined $_->[1] ? pack('N/a*', $_->[1]) : pack 'N', 0xFFFFFFFF } @$parameters)
		. pack('nn', 1, $binary ? 1 : 0));
	$all .= message('D', "P\0") . message('E', "\0" . pack 'N', $rows);
	$all .= message('E', "\0" . pack 'N', $rows) if $rows;
	$self->put($all . message('S', ''));
	return $self->answer($seconds);
}

# Ends the session, politely or not.
sub close
{
	my ($self, $abruptly) = @_;

	$self->put(message('X', '')) unless $abruptly;
	close $self->{socket};
	return;
}

1;
