# Loses blanks and backslashes, and keeps double lines.
while read line; do
	[ -n "$line" ] && echo "$line"
done | LC_ALL=C sort
