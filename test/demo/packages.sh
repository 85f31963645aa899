# packages.sh - the package graph of tables.sql, from Debian's package index.
#
# To be sourced by bash.  $WORK is a folder for files, and sql runs psql on the database.

# Writes the package index as two tab-separated files.
read_package_index() {
	apt-cache dumpavail | awk -v packages="$WORK/packages.tsv" -v needs="$WORK/needs.tsv" \
		-f "${BASH_SOURCE[0]%/*}/packages.awk"
}

# Copies them into the server and makes the tables.
load_package_tables() {
	sql -c "CREATE TABLE raw_packages (name text, section text, description text)" \
		-c "CREATE TABLE raw_needs (package text, needed text, suggested boolean)" &&
		sql -c "COPY raw_packages FROM STDIN" <"$WORK/packages.tsv" &&
		sql -c "COPY raw_needs FROM STDIN" <"$WORK/needs.tsv" &&
		sql -f "${BASH_SOURCE[0]%/*}/tables.sql"
}
