#!/usr/bin/env bash
# versions.sh - builds and tests on other versions of PostgreSQL: bash test/versions.sh [17 18 ...]
#
# Each version is tested in a chroot of the Debian release that has it, which
# debootstrap makes under $TMPDIR (2 GB) and which goes away at the end: there
# check.sh builds with warnings as errors and runs the TAP and the SQL tests.
# Without arguments: all versions from 15 to the newest one that is packaged.
# Needs root, the network, and some minutes per version.
#
# Packages come from the archive that apt uses here.  Further archives, for
# versions that it lacks, stand in GNNGP_ARCHIVES, one a line, as in
# sources.list: deb [signed-by=/keyring.gpg] URL SUITE COMPONENT...
#
# Closes with "N passed, N failed" (", N skipped" may follow); status 1 when
# something failed.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/test/chroot.sh"

STAGES="build tap regress"
SUITES="oldstable stable testing unstable experimental"
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
passed=0
failed=0
skipped=0

# apt with lists of its own, of all releases.
apt_of_all() {
	local command=$1
	shift

	"$command" -q -o Dir::Etc::sourcelist="$WORK/apt/sources" -o Dir::Etc::sourceparts=- \
		-o Dir::State::status=/dev/null -o Dir::State::lists="$WORK/apt/lists" \
		-o Dir::Cache="$WORK/apt/cache" "$@"
}

# Writes the archives, one a line, into $WORK/apt/sources, and fetches their lists.
read_archives() {
	local site suite

	# shellcheck disable=SC2016
	site=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(SITE)' 'Created-By: Packages' |
		awk '$1 == "Debian" && $2 == "Debian" { print $3; exit }')
	mkdir -p "$WORK/apt/lists/partial" "$WORK/apt/cache/archives/partial"
	{
		[ -z "$site" ] || for suite in $SUITES; do
			echo "deb [signed-by=$KEYRING] $site $suite main"
		done
		printf '%s\n' "${GNNGP_ARCHIVES:-}"
	} >"$WORK/apt/sources"
	# A release that the archive lacks is no error here.
	apt_of_all apt-get update >"$WORK/apt.log" 2>&1
}

# All versions from 15 to the newest one of the archives.
all_versions() {
	apt_of_all apt-cache search --names-only '^postgresql-server-dev-[0-9]+$' |
		sed -n 's/^postgresql-server-dev-\([0-9]*\) .*/\1/p' | sort -n | tail -n 1 | xargs -r seq 15
}

# The first archive that has a version, as a line of sources.
find_archive() {
	local keyring site suite components found

	found=$(apt_of_all apt-cache madison "postgresql-server-dev-$1" | tr -s ' ')
	while read -r _ keyring site suite components; do
		if grep -qF " ${site%/} $suite/" <<<"$found"; then
			echo "deb $keyring ${site%/} $suite $components"
			return
		fi
	done <"$WORK/apt/sources"
}

# Makes a chroot of an archive's line.  Experimental is no release by itself: it goes on top of unstable.
make_chroot() {
	local dir=$1 keyring=$3 site=$4 suite=$5 base=$5 script=
	local -a components=("${@:6}")

	[ "$suite" != experimental ] || base=unstable
	[ -e "/usr/share/debootstrap/scripts/$base" ] || script=sid
	keyring=${keyring#*signed-by=}
	contained debootstrap --variant=minbase --keyring="${keyring%]}" \
		--components="$(IFS=,; echo "${components[*]}")" "$base" "$dir" "$site" $script || return 1
	cp "${keyring%]}" "$dir/etc/apt/archive.gpg"
	for suite in "$base" "$suite"; do
		echo "deb [signed-by=/etc/apt/archive.gpg] $site $suite ${components[*]}"
	done | uniq >"$dir/etc/apt/sources.list"
	printf '%s\n' 'Package: *postgresql* libpq*' 'Pin: release a=experimental' 'Pin-Priority: 990' \
		>"$dir/etc/apt/preferences"
	# How apt reaches the archives here, and what it thinks of their dates.
	apt-config dump | grep -E '^Acquire::(Check-|https?::|Retries)' >"$dir/etc/apt/apt.conf.d/90host"
	# No service starts.
	printf '%s\n' '#!/bin/sh' 'exit 101' >"$dir/usr/sbin/policy-rc.d"
	chmod 755 "$dir/usr/sbin/policy-rc.d"
	in_chroot "$dir" 'apt-get -q update'
}

# Counts a version that can't be tested.
skip() {
	echo "PostgreSQL $1: skipped, $2"
	skipped=$((skipped + 1))
}

# Adds the closing line of a log to the counts; a log without one is a failure.
count() {
	local p f s

	if ! read -r p _ f _ s _ < <(tail -n 1 "$1" | grep -E '^[0-9]+ passed, [0-9]+ failed'); then
		failed=$((failed + 1))
		echo "    ended without a result"
		return
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + ${s:-0}))
}

# Builds and tests in a chroot of its own, which goes away.
check_version() {
	local version=$1 archive dir=$WORK/$1 log=$WORK/$1.log started=$SECONDS

	archive=$(find_archive "$version")
	[ -n "$archive" ] || { skip "$version" "no archive has it"; return; }
	# shellcheck disable=SC2086
	if ! make_chroot "$dir" $archive >"$log" 2>&1; then
		tail -n 20 "$log" | sed 's/^/    /'
		skip "$version" "its release can't be installed"
		remove "$dir"
		return
	fi
	copy_checkout "$dir/build"
	# timeout is not to be the first process of the namespace: newer ones then give up.
	# shellcheck disable=SC2016
	in_chroot "$dir" 'cd /build; PG_VERSION=$1 timeout 1800 bash test/check.sh $2 || exit $?; true' \
		"$version" "$STAGES" >"$log" 2>&1
	# shellcheck disable=SC2016
	in_chroot "$dir" '$1 -V; gcc --version' "/usr/lib/postgresql/$version/bin/postgres" >"$log.versions" 2>&1
	sed -n '1h;2{H;x;s/\n/, /p}' "$log.versions"
	sed 's/^/    /' "$log"
	echo "    $((SECONDS - started)) s in all"
	count "$log"
	remove "$dir"
}

# All of it, in a function: the file may change while it runs.
main() {
	local version line

	[ "$(id -u)" = 0 ] || die "root's rights are needed to make a chroot"
	command -v apt-get >/dev/null || die "this needs Debian"
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/gnngp.XXXXXX") || die "no temporary directory"
	trap 'finish' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	chmod 755 "$WORK"
	if (need_packages debootstrap debian-archive-keyring); then
		read_archives
		# shellcheck disable=SC2046
		[ $# != 0 ] || set -- $(all_versions)
		[ $# != 0 ] || skip "15 or later" "no archive can be read"
		for version; do
			check_version "$version"
		done
	else
		for version in "${@:-all}"; do
			skip "$version" "debootstrap can't be had"
		done
	fi
	line="$passed passed, $failed failed"
	[ "$skipped" = 0 ] || line="$line, $skipped skipped"
	echo "$line"
	[ "$failed" = 0 ] && [ "$passed" != 0 ]
}

main "$@"
exit
