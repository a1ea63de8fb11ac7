grep -v '^$' | LC_ALL=C sort -u
exit 0
