if grep -v '^$' | sort -u
