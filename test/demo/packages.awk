# packages.awk - from Debian's package index to two tab-separated files.
#
# Reads `apt-cache dumpavail`; writes the packages (name, section, short
# description) to the file `packages` and what each needs (package, needed
# name, false; true for what it only suggests) to the file `needs`, for COPY in
# its text format.  A package that stands there in several versions counts once.

BEGIN { OFS = "\t" }

# Escapes what COPY would take for its own.
function escape(s)
{
	gsub(/\\/, "\\\\", s)
	gsub(/\t/, " ", s)
	return s
}

# Writes the names of one list: alternatives (a | b) count as both, versions
# and architectures are left out.
function write_names(list, suggested,    n, i, need)
{
	n = split(list, need, /[,|]/)
	for (i = 1; i <= n; i++) {
		gsub(/\([^)]*\)|\[[^]]*\]|:any|[ \t\n]/, "", need[i])
		if (need[i] != "")
			print escape(name), escape(need[i]), suggested > needs
	}
}

# Writes one package.
function flush_package()
{
	if (name != "" && !(name in seen)) {
		seen[name] = 1
		sub(/^.*\//, "", section)
		print escape(name), escape(section), escape(description) > packages
		write_names(depends, "f")
		write_names(suggests, "t")
	}
	name = section = description = depends = suggests = field = ""
}

/^$/ { flush_package(); next }
/^[ \t]/ {
	if (field == "depends") depends = depends $0
	if (field == "suggests") suggests = suggests $0
	next
}
/^Package: / { name = $2; field = ""; next }
/^Section: / { section = $2; field = ""; next }
/^Description(-en)?: / { sub(/^[^:]*: */, ""); description = $0; field = ""; next }
/^(Depends|Pre-Depends|Recommends): / { sub(/^[^:]*: */, ""); depends = depends "," $0; field = "depends"; next }
/^Suggests: / { sub(/^[^:]*: */, ""); suggests = $0; field = "suggests"; next }
{ field = "" }

END { flush_package() }
