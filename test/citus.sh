#!/usr/bin/env bash
# citus.sh - the tests on tables that Citus has spread: bash test/citus.sh
#
# Citus comes from its Debian package where apt has one for this PostgreSQL (Debian itself has none; the project's own
# repository does), from the machine's PostgreSQL where it is installed, or from GNNGP_CITUS_SOURCE: a folder with its sources,
# of which a copy is built into a private copy of the server's files (three minutes).  Then a coordinator and
# two or three workers are started on this machine for test/t/017_citus.pl, what one server does with tables of Citus, and
# test/t/021_sql_citus.pl, fits that the workers share.  Skips, saying so, where there is no Citus.
#
# Leaves nothing running, and nothing on disk but packages.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The newest package of Citus for this server, if apt knows one.
citus_package() {
	apt-cache pkgnames "postgresql-$PG_VERSION-citus-" 2>/dev/null | grep -E -- '-citus-[0-9.]+$' | sort -V | tail -n 1
}

# Headers that the server's own headers include, and Citus with them.
need_headers() {
	local missing=()

	echo '#include <gssapi/gssapi.h>' | gcc -E - >/dev/null 2>&1 || missing+=(libkrb5-dev)
	echo '#include <zstd.h>' | gcc -E - >/dev/null 2>&1 || missing+=(libzstd-dev)
	need_packages ${missing[@]+"${missing[@]}"}
}

# Builds a copy of the sources and installs it into the private server.
build_citus() {
	local src=$WORK/citus part

	mkdir "$src"
	(cd "$GNNGP_CITUS_SOURCE" && tar -cf - --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.bc' .) |
		tar -xf - -C "$src" --no-same-owner || return 1
	cd "$src" || return 1
	# Newer minor versions of the server have this function themselves.
	if grep -q have_createdb_privilege "$("$PG_CONFIG" --includedir-server)/commands/dbcommands.h"; then
		perl -0pi -e 's/^static inline bool\nhave_createdb_privilege\(void\)\n\{.*?^\}\n//ms' src/include/pg_version_compat.h
	fi
	./configure --without-libcurl --without-lz4 --without-zstd PG_CONFIG="$PG_CONFIG" CFLAGS=-O1 || return 1
	for part in columnar distributed; do
		make -s -j "$(nproc)" -C "src/backend/$part" with_llvm=no PG_CFLAGS=-w &&
			make -s -C "src/backend/$part" with_llvm=no PG_CFLAGS=-w install || return 1
	done
}

[ -z "${GNNGP_CITUS_SOURCE:-}" ] || GNNGP_CITUS_SOURCE=$(realpath "$GNNGP_CITUS_SOURCE")
prepare
if [ -z "${GNNGP_CITUS_SOURCE:-}" ]; then
	package=$(citus_package)
	if [ -n "$package" ]; then
		need_packages "$package"
	elif [ ! -e "$(/usr/lib/postgresql/"$PG_VERSION"/bin/pg_config --pkglibdir)/citus.so" ]; then
		echo "skipped: apt has no package of Citus for PostgreSQL $PG_VERSION, and GNNGP_CITUS_SOURCE names no folder with its sources"
		exit 0
	fi
fi
private_server
[ -e "$(dirname "$("$PG_CONFIG" --pgxs)")/../../src/test/perl/PostgreSQL/Test/Cluster.pm" ] ||
	{ echo "skipped: this server comes without PostgreSQL::Test"; exit 0; }
if [ -n "${GNNGP_CITUS_SOURCE:-}" ]; then
	[ -d "$GNNGP_CITUS_SOURCE" ] || die "GNNGP_CITUS_SOURCE is no folder: $GNNGP_CITUS_SOURCE"
	need_headers
	echo "building Citus of $GNNGP_CITUS_SOURCE"
	(build_citus) >"$WORK/citus.log" 2>&1 || { tail -n 30 "$WORK/citus.log" >&2; die "Citus can't be built"; }
fi
build || { tail -n 30 "$WORK/build.log" >&2; die "gnngp can't be built"; }
prove_tests tap_citus 1 "$WORK/src/test/t/017_citus.pl" "$WORK/src/test/t/021_sql_citus.pl"
