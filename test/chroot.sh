# chroot.sh - what versions.sh and packages.sh share: commands in a chroot.  To be sourced after lib.sh.
#
# Whatever runs in a chroot has a mount and a process namespace of its own: its
# mounts and processes end with it, and nothing of them is left to be removed.

CHILD=

# Ends what runs in namespaces and removes what was written.
finish() {
	local rc=$?

	trap - EXIT
	if [ -n "$CHILD" ]; then
		# The first process of the namespace: it ends after all others.
		# shellcheck disable=SC2046
		kill -KILL $(cat "/proc/$CHILD/task/$CHILD/children") 2>/dev/null ||
			kill -KILL "$CHILD" 2>/dev/null
		wait "$CHILD" 2>/dev/null
	fi
	remove "$WORK"
	exit $rc
}

# Removes a folder in which nothing is mounted.
remove() {
	[ -z "${KEEP_WORK:-}" ] || return 0
	if grep -qF " $1/" /proc/self/mountinfo; then
		echo "$1 stays: something is mounted in it" >&2
	else
		rm -rf --one-file-system "$1"
	fi
}

# Runs a command in namespaces of its own; a signal to this script ends it.
contained() {
	local rc

	unshare -mpf --kill-child "$@" </dev/null &
	CHILD=$!
	wait "$CHILD"
	rc=$?
	CHILD=
	return $rc
}

# Runs a shell script in a chroot; further arguments are its $1, $2, ...
in_chroot() {
	local dir=$1 script=$2
	shift 2

	# shellcheck disable=SC2016
	contained bash -ec '
		mount --make-rprivate /
		mount -t proc proc "$0/proc"
		mount -t tmpfs tmpfs "$0/dev/shm"
		exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} \
			${https_proxy:+https_proxy="$https_proxy"} bash -euc "$@"
	' "$dir" "$script" check "$@"
}
