# Completion of bailiff for bash.

_bailiff()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local cmd=${COMP_WORDS[1]-} i words=
	local shared='--mode --way -e --env --env-file -t --timeout --cpu-time
		--cgroup --cpus -m --memory --pids --fsize --disk --max-output --ro-bind
		--expose --tmpfs --net --require --json --status-fd --keep -v
		--verbose -q --quiet -h --help --version'

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W 'run exec doctor selftest help -h --help
			--version' -- "$cur")
		return
	fi
	# behind -- stands a command's own line
	for ((i = 2; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = -- ] || continue
		mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
		return
	done
	case $prev in
	--mode)		words='auto local' ;;
	--way)		words='auto setuid capabilities socket root rootless
				bwrap plain' ;;
	--judge-mode)	words='separate shared' ;;
	--judge-net)	words='loopback host' ;;
	--net)		words=loopback ;;
	--cgroup)	words='auto scope none' ;;
	--require)	words='uid net mount pid ipc seccomp cgroup none' ;;
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
		doctor)	words='--json -h --help' ;;
		selftest) words='--mode --way --json -v --verbose -q --quiet
				-h --help' ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
	*)	compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	esac
}
complete -F _bailiff bailiff
