# Completion of bailiff for bash.

# true: a value follows that option of exec.
_bailiff_valued()
{
	case $1 in
	--mode|--way|-e|--env|--env-file|-t|--timeout|--cpu-time|--cgroup|--cpus|\
	-m|--memory|--pids|--fsize|--disk|--max-output|--ro-bind|--expose|\
	--tmpfs|--net|--require|--status-fd|--put|--get|-w|--workdir|--meta) ;;
	*)	false ;;
	esac
}

# true: the word at COMP_CWORD belongs to the command of exec, which is at $at or
# comes there.
_bailiff_own()
{
	local word
	for ((at = 2; at < COMP_CWORD; at++)); do
		word=${COMP_WORDS[at]}
		case $word in
		--)	((at++))
			return 0 ;;
		# bash makes words of = and :, and of what is behind them
		=|:)	((at++)) ;;
		-*)	! _bailiff_valued "$word" || ((at++)) ;;
		*)	return 0 ;;
		esac
		# --way=: the value is behind the =, and not the = itself
		[ "${COMP_WORDS[at]-}" != = ] || ((at++))
	done
	return 1
}

# In COMPREPLY what $cur can become behind $prev.
_bailiff_words()
{
	local cmd=${COMP_WORDS[1]-} words= w= at
	local shared='--mode --way -e --env --env-file -t --timeout --cpu-time
		--cgroup --cpus -m --memory --pids --fsize --disk --max-output --ro-bind
		--expose --tmpfs --net --require --json --status-fd --keep -v
		--verbose -q --quiet -h --help --version'

	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W 'run exec doctor selftest help -h --help
			--version' -- "$cur")
		return
	fi
	if [ "$cmd" = exec ] && _bailiff_own; then
		compopt -o filenames 2>/dev/null
		[ "$at" != "$COMP_CWORD" ] || w=-c
		# shellcheck disable=SC2086
		mapfile -t COMPREPLY < <(compgen $w -f -- "$cur")
		return
	fi
	case $prev in
	--mode)		words='auto local' ;;
	--way)		words='auto setuid capabilities socket root rootless
				bwrap plain' ;;
	--judge-mode)	words='separate shared' ;;
	--judge-net)	words='loopback host' ;;
	--net)		words=loopback ;;
	--cgroup)	words='auto scope none' ;;
	--require)	words='uid net mount pid ipc seccomp cgroup'
			[[ $cur == *,* ]] || words+=' none'
			[[ $cur != *,* ]] || front+=${cur%,*},
			for w in $words; do	# none of them twice
				[[ ",$cur" != *",$w,"* ]] || words=${words/$w}
			done
			cur=${cur##*,} ;;
	help)		words='run exec doctor selftest' ;;
	-e|--env)	mapfile -t COMPREPLY < <(compgen -v -- "$cur"); return ;;
	-t|--timeout|--cpu-time|--cpus|-m|--memory|--pids|--fsize|--disk|\
	--max-output|--tmpfs|--status-fd|--judge-timeout|--keep-output|\
	-w|--workdir)
		return ;;
	--expose|--artifacts|--ro-bind)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return ;;
	esac
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return
	fi
	case $cur in
	-*)	case $cmd in
		run)	words="--answer --judge --judge-mode --judge-timeout
				--judge-net --keep-output --artifacts
				--exit-zero $shared" ;;
		exec)	words="--put --get -w --workdir --meta -- $shared" ;;
		doctor)	words='--json -h --help --version' ;;
		selftest) words='--mode --way --json -v --verbose -q --quiet
				-h --help --version' ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
	*)	compopt -o filenames 2>/dev/null
		[ "$cmd" != exec ] || _bailiff_valued "$prev" || w=-c
		# shellcheck disable=SC2086
		mapfile -t COMPREPLY < <(compgen $w -f -- "$cur") ;;
	esac
}

_bailiff()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local front=

	COMPREPLY=()
	# --way=VALUE: three words, or one where COMP_WORDBREAKS has no =
	if [ "$cur" = = ]; then
		cur=
	elif [ "$prev" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $cur == --*=* ]]; then
		front=${cur%%=*}=
		prev=${cur%%=*} cur=${cur#*=}
	fi
	_bailiff_words
	COMPREPLY=("${COMPREPLY[@]/#/$front}")
}
complete -F _bailiff bailiff
