# lib.sh - what check.sh, demo.sh and the benchmarks share: packages, a private
# copy of the server, a throw-away cluster.  To be sourced by bash.
#
# Nothing outside $WORK is written but Debian packages that were missing.  The
# extension goes into a copy of the server's files under $WORK, which works
# because PostgreSQL looks for its files relative to its own binary; the
# machine's own PostgreSQL stays as it is.  Servers run as the user postgres
# when root calls, for they refuse root, and as the caller otherwise.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
WORK=
SERVER_DATA=
# The TAP tests take LC_ALL away; without LANG their servers then have no encoding.
export LC_ALL=C.UTF-8 LANG=C.UTF-8
unset PGDATA PGHOST PGPORT PGUSER PGDATABASE PGOPTIONS PGSERVICE

# Prints a message and ends.
die() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# Runs a command with root's rights.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		die "root's rights are needed for: $*"
	fi
}

# Runs a command as the user that servers run as.
as_server() {
	if [ "$(id -u)" = 0 ]; then
		(cd "$WORK" && setpriv --reuid=postgres --regid=postgres --init-groups \
			env HOME="$WORK/home" USER=postgres "$@")
	else
		(cd "$WORK" && "$@")
	fi
}

# True when a Debian package is installed.
has_package() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Installs the packages that are missing.
need_packages() {
	local missing=() p

	for p in "$@"; do
		has_package "$p" || missing+=("$p")
	done
	[ ${#missing[@]} = 0 ] && return
	command -v apt-get >/dev/null || die "this needs Debian, or the packages ${missing[*]}"
	echo "installing ${missing[*]}"
	need_package_lists
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
		install --no-install-recommends "${missing[@]}" >"$WORK/apt.log" 2>&1 ||
		{ tail -n 20 "$WORK/apt.log" >&2; die "apt-get install failed"; }
}

# Installs packages that single tests use, where Debian has them; those tests skip themselves otherwise.
want_packages() {
	local p

	for p in "$@"; do
		has_package "$p" && continue
		need_package_lists
		[ -z "$(apt-cache search --names-only "^$p\$")" ] || need_packages "$p"
	done
}

# Fetches apt's package lists when there are none.
need_package_lists() {
	[ -n "$(apt-cache pkgnames 2>/dev/null | sed -n 1000p)" ] && apt_has_main && return
	as_root apt-get -q -o DPkg::Lock::Timeout=300 update >"$WORK/apt.log" 2>&1 ||
		{ tail -n 20 "$WORK/apt.log" >&2; die "apt-get update failed"; }
}

# True when apt's lists hold a Debian archive, not the installed packages alone.
apt_has_main() {
	[ -n "$(apt-cache dumpavail 2>/dev/null | grep -m 20001 '^Package:' | sed -n 20000p)" ]
}

# The major version to use: $PG_VERSION, the newest installed, or Debian's.
choose_version() {
	local v

	if [ -z "${PG_VERSION:-}" ]; then
		for v in /usr/lib/postgresql/*/bin/postgres; do
			v=${v%/bin/postgres}
			v=${v##*/}
			[ -x "/usr/lib/postgresql/$v/bin/postgres" ] && [ "$v" -gt "${PG_VERSION:-14}" ] &&
				PG_VERSION=$v
		done
	fi
	if [ -z "${PG_VERSION:-}" ]; then
		need_package_lists
		PG_VERSION=$(apt-cache depends postgresql |
			sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1)
	fi
	[ -n "${PG_VERSION:-}" ] || die "no PostgreSQL to be found"
}

# Makes $WORK, which goes away at the end, and installs what a build needs.
prepare() {
	local fresh

	WORK=$(mktemp -d "${TMPDIR:-/tmp}/gnngp.XXXXXX") || die "no temporary directory"
	trap 'finish' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	chmod 755 "$WORK"
	mkdir "$WORK/home"
	choose_version
	has_package "postgresql-$PG_VERSION" || fresh=1
	need_packages gcc make "postgresql-$PG_VERSION" "postgresql-server-dev-$PG_VERSION" \
		libopenblas0-pthread "$@"
	# A server that the package has just started is none of the user's.
	[ -z "${fresh:-}" ] || as_root pg_ctlcluster "$PG_VERSION" main stop >/dev/null 2>&1
	[ "$(id -u)" != 0 ] || chown postgres "$WORK/home"
}

# Stops what runs and removes what was written.
finish() {
	local rc=$?

	trap - EXIT
	stop_server
	[ -z "$WORK" ] || [ -n "${KEEP_WORK:-}" ] || as_root_if_needed rm -rf "$WORK"
	exit $rc
}

# Removes files of the server's user too; sudo is not needed for one's own.
as_root_if_needed() {
	"$@" 2>/dev/null || as_root "$@"
}

# Copies the server's files into $WORK/pg, sets PG_CONFIG and PATH to the copy.
private_server() {
	local lib=/usr/lib/postgresql/$PG_VERSION share=/usr/share/postgresql/$PG_VERSION
	local copy=$WORK/pg

	mkdir -p "$copy$lib" "$copy$share" "$copy/usr/include"
	cp -a "$lib/bin" "$copy$lib/"
	cp -as "$lib/lib" "$copy$lib/"
	cp -as "$share/." "$copy$share/"
	# The copy must not bring an installed gnngp along.
	rm -rf "$copy$share"/extension/gnngp* "$copy$lib"/lib/gnngp* "$copy$lib"/lib/bitcode/gnngp*
	ln -s /usr/include/postgresql "$copy/usr/include/postgresql"
	export PG_CONFIG=$copy$lib/bin/pg_config
	export PATH=$copy$lib/bin:$PATH
	case $("$PG_CONFIG" --sharedir) in
	"$copy"/*) ;;
	*) die "this PostgreSQL can't be copied: it looks for its files in $("$PG_CONFIG" --sharedir)" ;;
	esac
}

# Copies the checkout, without what a build leaves, into a folder.
copy_checkout() {
	mkdir -p "$1"
	(cd "$ROOT" && tar -cf - --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.bc' \
		--exclude=./results --exclude=./tmp_check --exclude=./build .) | tar -xf - -C "$1" --no-same-owner
	chmod -R a+rX "$1"
}

# Builds a copy of the checkout in $WORK/src and installs it into the private
# server; further arguments go to make.  Messages go to $WORK/build.log.
build() {
	copy_checkout "$WORK/src"
	make -C "$WORK/src" -j "$(nproc)" with_llvm=no "$@" >"$WORK/build.log" 2>&1 &&
		make -C "$WORK/src" with_llvm=no install >>"$WORK/build.log" 2>&1
}

# Installs the script of the last tagged commit beside today's and prints the version that
# CREATE EXTENSION finds it by; fails outside a checkout, and where no commit is tagged.
install_release() {
	local tag version

	tag=$(git -C "$ROOT" describe --tags --abbrev=0 2>/dev/null) || return
	mkdir -p "$WORK/release"
	git -C "$ROOT" archive "$tag" | tar -xf - -C "$WORK/release"
	version=$(sed -n 's/^EXTVERSION = //p' "$WORK/release/Makefile")
	make -s -C "$WORK/release" "sql/gnngp--$version.sql" >&2 || return
	! grep -qx "EXTVERSION = $version" "$ROOT/Makefile" || version=$version-released
	cp "$WORK/release"/sql/gnngp--"${version%-released}".sql \
		"$("$PG_CONFIG" --sharedir)/extension/gnngp--$version.sql"
	echo "$version"
}

# Runs TAP tests as the user of the servers; the first argument names the folder of
# their files, the second how many run at a time.
prove_tests() {
	local out=$WORK/$1 jobs=$2 pgxs
	shift 2

	pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/../..
	mkdir "$out"
	[ "$(id -u)" != 0 ] || chown postgres "$out" "$("$PG_CONFIG" --pkglibdir)"
	as_server env -C "$WORK/src" PGPORT="${GNNGP_TAP_PORT:-65432}" PG_REGRESS="$pgxs/src/test/regress/pg_regress" \
		TESTDIR="$out" TESTLOGDIR="$out/log" TESTDATADIR="$out" GNNGP_WITHOUT="${GNNGP_WITHOUT:-}" \
		GNNGP_RELEASED="$(install_release)" GNNGP_CUDA_LIBRARY="$WORK/gnngp_emulated.so" prove -v -j "$jobs" --nocolor -I "$pgxs/src/test/perl" -I test/perl "$@"
}

# Starts a throw-away server of $WORK/data; arguments are lines of its
# configuration.  psql and the like then find it by PGHOST.
start_server() {
	SERVER_DATA=$WORK/data
	[ "$(id -u)" = 0 ] && install -d -o postgres "$SERVER_DATA" "$WORK/sock" ||
		mkdir -p "$SERVER_DATA" "$WORK/sock"
	# With the sanitizers' libraries in front, a lock of the C library stops initdb.
	as_server env -u LD_PRELOAD initdb -D "$SERVER_DATA" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
		>"$WORK/initdb.log" 2>&1 || { cat "$WORK/initdb.log" >&2; die "initdb failed"; }
	{
		printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$WORK/sock'" \
			"fsync = off" "jit = off" "max_wal_size = 4GB" "log_min_messages = warning" "$@"
	} | as_server tee -a "$SERVER_DATA/postgresql.conf" >/dev/null
	as_server pg_ctl -D "$SERVER_DATA" -l "$WORK/data/server.log" -w start >"$WORK/start.log" 2>&1 ||
		{ cat "$WORK/start.log" "$SERVER_DATA/server.log" >&2; die "the server did not start"; }
	export PGHOST=$WORK/sock PGUSER=postgres PGDATABASE=postgres
}

# Stops it, if it runs.
stop_server() {
	[ -n "$SERVER_DATA" ] && [ -f "$SERVER_DATA/postmaster.pid" ] &&
		as_server pg_ctl -D "$SERVER_DATA" -m fast -w stop >/dev/null 2>&1
	SERVER_DATA=
}

# psql without anybody's settings; stops at the first error.
sql() {
	psql -X -q -v ON_ERROR_STOP=1 "$@"
}

# Reports one test of a shell script; what stands on its input is the reason.
report() {
	local name=$1 reason

	reason=$(cat)
	if [ -z "$reason" ]; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		sed 's/^/# /' <<<"$reason"
	fi
}
