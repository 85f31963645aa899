#!/usr/bin/env bash
# packages.sh - builds the Debian packages, the archives, the RPM and the extension image, and uses
# them, as TAP.
#
# The Debian package is installed into a bare Debian of this release, which debootstrap makes and
# which goes away at the end.  The others serve a private copy of this machine's server: PGXN's
# client installs the archive for PGXN, and rpmbuild takes the other one.  Each then makes the extension and fits a small graph.  Needs root, the network and some minutes;
# tools that cannot be had skip their package.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/test/chroot.sh"

# Two classes on a path of six nodes: prints how many nodes have a class.
FIRST_FIT="CREATE EXTENSION gnngp;
CREATE TABLE n AS SELECT i AS id, CASE i WHEN 1 THEN 'a' WHEN 6 THEN 'b' END AS class
    FROM generate_series(1, 6) AS i;
CREATE TABLE e AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 5) AS i;
SELECT gp_create_graph('path', 'n', 'e', target => 'class');
SELECT count(*) FROM gp_fit('path');
SELECT 'classes: ' || count(class) FROM gp_predict('path');"

# Reports whether a log ends as the first fit should.
fitted() {
	{ grep -qx 'classes: 6' "$2" || tail -n 20 "$2"; } | report "$1"
}

# The Debian package, built here, in a bare Debian.
debian_package() {
	local root=$WORK/root name="the Debian package serves a bare Debian"

	copy_checkout "$WORK/deb/gnngp"
	if ! (cd "$WORK/deb/gnngp" && pg_buildext updatecontrol && dpkg-buildpackage -us -uc -b) >"$WORK/deb.log" 2>&1
	then
		tail -n 20 "$WORK/deb.log" | report "dpkg-buildpackage builds"
		return
	fi
	if ! contained debootstrap --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" \
		"$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)" \
		>"$WORK/root.log" 2>&1; then
		echo "ok - $name # SKIP debootstrap cannot make one"
		return
	fi
	cp "$WORK"/deb/postgresql-"$PG_VERSION"-gnngp_*.deb "$root/tmp/gnngp.deb"
	# The package asks for the server that it was built with, which an update may have brought.
	cp -r /etc/apt/sources.list* "$root/etc/apt/"
	apt-config dump | grep -E '^Acquire::(Check-|https?::|Retries)' >"$root/etc/apt/apt.conf.d/90host"
	printf '%s\n' "$FIRST_FIT" >"$root/tmp/first.sql"
	# shellcheck disable=SC2016
	in_chroot "$root" 'apt-get -q update; apt-get -q -y install --no-install-recommends /tmp/gnngp.deb
		pg_ctlcluster "$1" main start || true
		setpriv --reuid=postgres --regid=postgres --clear-groups psql -XAtq -f /tmp/first.sql
		pg_ctlcluster "$1" main stop' "$PG_VERSION" >"$WORK/debian.log" 2>&1
	fitted "$name" "$WORK/debian.log"
}

# Removes the extension's files from the private server.
uninstall() {
	rm -f "$("$PG_CONFIG" --pkglibdir)"/gnngp* "$("$PG_CONFIG" --sharedir)"/extension/gnngp*
}

# The first fit in a database of its own: what is tested, the database, SQL after it.
serves() {
	createdb "$2" && psql -XAtq -d "$2" -f - <<<"$FIRST_FIT${3:-}" >"$WORK/$2_fit.log" 2>&1
	fitted "$1" "$WORK/$2_fit.log"
}

# What make dist writes of the commit, and PGXN's archive as PGXN's client installs it.
pgxn_archive() {
	make -s -C "$ROOT" dist DIST="$WORK" >"$WORK/dist.log" 2>&1 ||
		{ tail -n 20 "$WORK/dist.log" | report "make dist"; return; }
	uninstall
	mkdir -p "$("$PG_CONFIG" --libdir)"
	pgxn install --yes --nosudo --pg_config "$PG_CONFIG" "$WORK/gnngp-1.0.0.zip" >"$WORK/pgxn.log" 2>&1 ||
		tail -n 20 "$WORK/pgxn.log" | report "pgxn install takes the archive"
	serves "PGXN's archive serves a server" pgxn
}

# The RPM, built from the archive; the private server gets its files.
rpm_package() {
	local top=$WORK/rpm

	rpmbuild -tb --nodeps --define "_topdir $top" --define "pgmajor $PG_VERSION" \
		--define "pgroot /usr/lib/postgresql/$PG_VERSION" "$WORK/gnngp-1.0.0.tar.gz" >"$WORK/rpm.log" 2>&1 ||
		{ tail -n 20 "$WORK/rpm.log" | report "rpmbuild builds"; return; }
	uninstall
	(mkdir -p "$top/root" && cd "$top/root" && rpm2cpio "$top"/RPMS/*/*.rpm | cpio -idm 2>/dev/null &&
		cp -r usr/lib/postgresql usr/share/postgresql "$WORK/") || true
	cp "$WORK/postgresql/$PG_VERSION/lib/gnngp.so" "$("$PG_CONFIG" --pkglibdir)/"
	cp "$WORK/postgresql/$PG_VERSION/extension"/gnngp* "$("$PG_CONFIG" --sharedir)/extension/"
	serves "the RPM serves a server" rpm
}

# The extension image; that OpenBLAS comes out of it is asked of the dynamic linker.
extension_image() {
	local lib

	copy_checkout "$WORK/image_src"
	make -s -C "$WORK/image_src" -j "$(nproc)" extension-image DEST="$WORK/image" >"$WORK/image.log" 2>&1 ||
		{ tail -n 20 "$WORK/image.log" | report "make extension-image"; return; }
	uninstall
	lib=$("$PG_CONFIG" --pkglibdir)
	cp "$WORK/image/lib/"* "$lib/"
	cp "$WORK/image/share/extension/"* "$("$PG_CONFIG" --sharedir)/extension/"
	serves "the extension image serves a server" image "
SELECT 'own: ' || (pg_read_file('/proc/self/maps', 0, 1000000) LIKE '%$lib/libopenblas%');"
	{ grep -qx 'own: true' "$WORK/image_fit.log" || cat "$WORK/image_fit.log"; } |
		report "OpenBLAS comes out of the image"
}

# All of it, in a function: the file may change while it runs.
main() {
	[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP root's rights are needed"; exit; }
	prepare debhelper postgresql-server-dev-all debootstrap pgxnclient rpm cpio
	trap 'stop_server; finish' EXIT
	private_server
	start_server
	debian_package
	pgxn_archive
	rpm_package
	extension_image
}

main "$@"
exit
