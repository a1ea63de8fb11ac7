# Only neighbours that are equal become one.
grep . | uniq
exit 0
