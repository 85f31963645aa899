# forms.awk - writes out what is alike but for a type or a name: awk -f sql/forms.awk PART.sql ...
#
# The lines between "--each TYPE: a b" and "--end" come once for each word, with the word where {TYPE} is;
# "--each OP/NAME: =/eq <>/ne" has two words at a time.
#
# A function that takes nodes stands in its part once, for a gp_node_list of integers.  A line behind its comment,
#
#     --forms gp_loo('m', %)
#
# becomes its forms for nodes of other types, in arrays and one alone.  Their comments give that call with
# the nodes where % is; ": the pairs of" behind it says what of the nodes there is.  "--forms-named" is the
# same where NULL does not stand for all nodes.  Integers are spelled out, so that named arguments come in
# any order: where a type is found out from an argument, PostgreSQL takes it by its place in the call.

# One form: name and type of the argument, type of the rows' nodes and of further lists, comment.
function form(argument, type, row, others, comment,    k, line)
{
	print ""
	for (k = 1; k <= lines; k++)
	{
		line = kept[k]
		if (line ~ /^COMMENT ON/ || line ~ /given_nodes/)
			sub(/bigint\[\]/, others, line)
		sub(/nodes @extschema@\.gp_node_list( DEFAULT NULL)?/, argument " " type, line)
		sub(/@extschema@\.gp_node_list/, type, line)
		sub(/node bigint/, "node " row, line)
		sub(/src bigint/, "src " row, line)
		sub(/dst bigint/, "dst " row, line)
		if (line ~ /^    '.*';$/)
			line = "    '" comment "';"
		print line
	}
}

# The call that a comment ends with.
function call(nodes,    text)
{
	text = sample
	sub(/%/, nodes, text)
	gsub(/'/, "''", text)
	return text
}

# What comes once for each word.
/^--each / { lines = 0; each = $0; next }
/^--end/ {
	split(substr(each, 8, index(each, ":") - 8), name, "/")
	words = split(substr(each, index(each, ":") + 2), word, " ")
	for (w = 1; w <= words; w++)
	{
		parts = split(word[w], value, "/")
		for (k = 1; k <= lines; k++)
		{
			line = kept[k]
			for (p = 1; p <= parts; p++)
				gsub("[{]" name[p] "[}]", value[p], line)
			print line
		}
	}
	each = ""
	lines = 0
	next
}
each { kept[++lines] = $0; next }

# A function, and its comment.
/^CREATE / { lines = 0 }
!/^--forms/ { kept[++lines] = $0; print; next }

{
	all = $1 == "--forms"
	sample = substr($0, length($1) + 2)
	what = ""
	if (match(sample, /\): /))
	{
		what = substr(sample, RSTART + 3) " "
		sample = substr(sample, 1, RSTART)
	}
	form("nodes", "anyarray", "anyelement", "\"any\"",
		 "the same for " what "these nodes, of any type: " call("ARRAY[1, 2]"))
	split("bigint integer smallint", integer, " ")
	for (k = 1; k <= 3; k++)
		form("nodes", integer[k] "[]", integer[k], integer[k] "[]",
			 "the form for any type, spelled out for " integer[k])
	form("id", "anynonarray", "anynonarray", "\"any\"", "the same for " what \
		 (all ? "one node, or for all where id is NULL of a type: " call("NULL::uuid") : "one node: " call("5")))
	form("id", "text", "text", "\"any\"",
		 "the same for " what "one node by the text of its id, whatever its type: " call("'alice'"))
}
