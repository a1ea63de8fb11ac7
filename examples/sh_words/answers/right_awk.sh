#!/bin/sh
LC_ALL=C
export LC_ALL
sort | awk '$0 != "" && (!some || $0 "" != last) { print }
	{ last = $0 ""; some = 1 }'
