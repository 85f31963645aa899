# prose.pl - the documents and messages in plain English: perl test/prose.pl, in the root of the checkout.
#
# Prints what breaks a rule: README.md has at most 300 lines, doc/design.md 250, doc/reference.md 999 and
# CONTRIBUTING.md 75; no sentence has more than 40 words; no document, message or comment has a banned phrase;
# each relative link leads to a file, and to a heading of it; each file that a page names exists, and in pages
# about the code each file, function and type.
use strict;
use warnings;
use feature 'state';

my %MOST_LINES = ('README.md' => 300, 'doc/design.md' => 250, 'doc/reference.md' => 999,
	'CONTRIBUTING.md' => 75);
my $MOST_WORDS = 40;

# Phrases that make a reader stop, each with what to write instead.
my @BANNED = (
	[ qr/\banew\b/i, 'again' ],
	[ qr/\b(?:told|tells?) of\b/i, 'a NOTICE says, reports, names' ],
	[ qr/\b(?:is|are|that is|that are) no (?:integers?|numbers?|classes|links?)\b/i, 'is not an integer' ],
	[ qr/\bas ever\b/i, 'as before, as usual' ],
	[ qr/\bbeware\b/i, 'take care' ],
	[ qr/\bof which no\b/i, 'a sentence of its own' ],
	[ qr/\bthere is to (?:say|know|tell)\b/i, 'name it' ],
	[ qr/\bwhat is said\b/i, 'the probabilities, the predictions' ],
	[ qr/\bbut for\b/i, 'except, up to' ],
	[ qr/\bis dear\b|\bare dear\b/i, 'is expensive' ],
	[ qr/\bmeant by name\b/i, 'pass it by name' ],
	[ qr/\bin vain\b/i, 'no gain' ],
	[ qr/\bfor the good of\b/i, 'for' ],
	[ qr/\bwhich is else\b|\bof as many\b/i, 'otherwise' ],
	[ qr/\bit takes to\b|\bthat waits for\b/i, 'needs' ]);

my (%slugs, %lines);

sub slurp
{
	my ($path) = @_;
	open my $file, '<:encoding(UTF-8)', $path or die "$path: $!\n";
	local $/ = undef;
	return scalar <$file>;
}

# The anchors of a page, as the usual renderers make them of its headings.
sub slugs
{
	my ($path) = @_;
	return $slugs{$path} if $slugs{$path};
	my $text = slurp($path) =~ s/^```.*?^```//gmsr;
	for my $heading ($text =~ /^#+ +(.*)$/mg)
	{
		$heading = lc($heading =~ s/\[([^\]]*)\]\([^)]*\)/$1/gr);
		$heading =~ s/[^\w\- ]//g;
		$slugs{$path}{ $heading =~ tr/ /-/r } = 1;
	}
	return $slugs{$path} ||= {};
}

# Relative links of a page.
sub check_links
{
	my ($path, $text) = @_;
	my ($folder) = $path =~ m{^(.*/)?};
	for my $link ($text =~ /\]\(([^)\s]+)\)/g)
	{
		next if $link =~ /^(?:https?|mailto):/;
		my ($file, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
		my $target = $file eq '' ? $path : ($folder // '') . $file;
		1 while $target =~ s{[^/]+/\.\./}{};
		if (!-e $target) { print "$path: no file $link\n" }
		elsif (defined $anchor && !slugs($target)->{$anchor}) { print "$path: no heading $link\n" }
	}
}

# Files of the checkout that a page names.
sub check_files
{
	my ($path, $text) = @_;
	for my $file ($text =~ m{`((?:src|test|sql|cuda|debian|doc)/[\w./-]+\.\w+)`}g)
	{
		print "$path: no file $file\n" if $file !~ /FOLDER|NAME/ && !-e $file;
	}
}

# Files, functions and types of the code that a page about it names: the ends of paths, words with an underscore.
sub check_names
{
	my ($path, $text) = @_;
	state @files = split /\n/, `find src test sql cuda doc expected -type f`;
	state %word = map { $_ => 1 } map { slurp($_) =~ /\w+/g } grep { /\.(?:[ch]|cu|sql|p[lm])$/ } @files;
	for my $name ($text =~ m{`([\w./-]+)`}g)
	{
		if ($name =~ /\.(?:[ch]|cu|sql|out|sh|p[lm])$/)
		{
			print "$path: no file $name\n" unless $name =~ /FOLDER|NAME/ || grep { "/$_" =~ m{/\Q$name\E$} } @files;
		}
		elsif ($name =~ /^\w*[a-z]_\w+$/ && $name !~ /^pg_|[A-Z]{2}/) { print "$path: nothing is named $name\n" unless $word{$name} }
	}
}

# Sentences of a paragraph, an item or a cell.
sub check_sentences
{
	my ($where, $text, $ends) = @_;
	$text =~ s/\]\([^)]*\)/]/g;
	$text =~ s/`[^`]*`/X/g;
	for my $sentence (split /(?<=$ends)["')*\]]*\s+(?=["'(*\[A-Za-z0-9])/, $text)
	{
		my $words = () = $sentence =~ /\S*\w\S*/g;
		print "$where: $words words: ", substr($sentence, 0, 70), "\n" if $words > $MOST_WORDS;
	}
}

sub check_phrases
{
	my ($where, $text) = @_;
	for (@BANNED)
	{
		my ($phrase, $instead) = @$_;
		print "$where: \"$1\": write $instead\n" if $text =~ /($phrase)/;
	}
}

for my $path (qw(README.md CONTRIBUTING.md SECURITY.md cuda/README.md), glob('doc/*.md'))
{
	my $text = slurp($path);
	my $count = () = $text =~ /\n/g;
	print "$path: $count lines, at most $MOST_LINES{$path}\n" if $count > ($MOST_LINES{$path} // 9999);
	$text =~ s/^```.*?^```$//gms;
	check_links($path, $text);
	check_files($path, $text);
	check_names($path, $text) if $path =~ m{^CONTRIBUTING|/(?:design|recipes|reliability)\.md$};
	for my $part (split /\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=[|#])/, $text)
	{
		$part =~ s/\s+/ /g;
		if ($part =~ /^\|/) { check_sentences($path, $_, qr/[.!?;]/) for split /\|/, $part }
		elsif ($part !~ /^#/) { check_sentences($path, $part, qr/[.!?]/) }
		check_phrases($path, $part);
	}
}

# What users see of the code: messages, details and hints, and comments on objects.
for my $path (glob('src/*/*/*.c src/*/*/*/*.c'))
{
	my $code = slurp($path);
	while ($code =~ /\b(?:errmsg|errdetail|errhint|gnngp_raise\w*|gp_raise|gp_raise_hint|gp_notice\w*)\s*\((?:[^"();]|\([^()]*\))*?((?:"(?:[^"\\]|\\.)*"\s*)+)/g)
	{
		my $message = join '', $1 =~ /"((?:[^"\\]|\\.)*)"/g;
		check_phrases($path, $message);
	}
}
# Comments of the code, of the SQL and of the tests.
for my $path (split /\n/, `find src cuda test sql doc/examples -type f`)
{
	next unless $path =~ /\.(?:([ch]|cu|cpp)|(sql)|p[lm]|sh|py)$/ && $path ne 'test/prose.pl';
	my ($c, $sql) = ($1, $2);
	my $code = slurp($path);
	my $comment = $c ? qr{/\*(.*?)\*/}s : $sql ? qr/^[ \t]*--(.*(?:\n[ \t]*--.*)*)/m : qr/^[ \t]*#(.*(?:\n[ \t]*#.*)*)/m;
	check_phrases($path, $1 =~ s/\s*\n\s*(?:[*#]|--)?\s*/ /gr) while $code =~ /$comment/g;
}
for my $path (glob('sql/parts/*.sql'))
{
	my $code = slurp($path);
	check_phrases($path, $1) while $code =~ /\bCOMMENT ON [^;]*? IS\s*((?:'(?:[^']|'')*'\s*)+);/g;
}
