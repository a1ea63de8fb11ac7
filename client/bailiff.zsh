#compdef bailiff
# Completion of bailiff for zsh.

local -a commands shared ways
ways=(auto setuid capabilities socket root rootless bwrap plain)
commands=(
	'run:judge one answer'
	'exec:run one command in a fresh cell'
	'doctor:say what this machine can do'
	'selftest:try what is forbidden'
	'help:tell the options of a command'
)
shared=(
	'--mode=[where the cells are made]:mode:(auto local)'
	"--way=[how the cells are made]:way:($ways)"
	'*'{-e+,--env=}'[set or pass on a variable]:variable:_parameters -g "*export*"'
	'*--env-file=[variables, one to a line]:file:_files'
	'(-t --timeout)'{-t+,--timeout=}'[wall time]:seconds:'
	'--cpu-time=[processor time of one process]:seconds:'
	'--cgroup=[a control group for each cell]:mode:(auto scope none)'
	'--cpus=[processors, in a control group]:number:'
	'(-m --memory)'{-m+,--memory=}'[memory of one process]:size:'
	'--pids=[processes]:number:'
	'--fsize=[largest file]:size:'
	'--disk=[all private folders together]:size:'
	'--max-output=[of each stream]:size:'
	'*--ro-bind=[show a folder, as SRC\:DST]:folder:_files -/'
	'*--expose=[show a folder at its own path]:folder:_files -/'
	'*--tmpfs=[an empty folder, as DST\:SIZE]:folder:'
	'--net=[network of a cell]:network:(loopback)'
	'--require=[no run without these]:protection:_values -s , protection uid net mount pid ipc seccomp cgroup none'
	'--json[print one JSON object]'
	'--status-fd=[write that object to a descriptor]:descriptor:'
	'--keep[leave the cells for a look]'
	'(-v --verbose)'{-v,--verbose}'[tell times and memory]'
	'(-q --quiet)'{-q,--quiet}'[no warnings]'
	'(-h --help)'{-h,--help}'[print the options]'
	'--version[print the version]'
)

if (( CURRENT == 2 )); then
	_describe command commands -- '(-h --help --version)'
	compadd -- -h --help --version
	return
fi
shift words
(( CURRENT-- ))
case $words[1] in
run)
	_arguments -s $shared \
	    '--answer=[the answer]:answer:_files' \
	    '--judge=[a verifier alone]:verifier:_files' \
	    '--judge-mode=[how judge and answer are kept apart]:mode:(separate shared)' \
	    '--judge-timeout=[wall time of the judge]:seconds:' \
	    '--judge-net=[network of the judge]:network:(loopback host)' \
	    '--keep-output=[of streams in the result]:size:' \
	    '--artifacts=[gets what the answer left]:folder:_files -/' \
	    '--exit-zero[0 for every verdict]' \
	    ':environment:_files -/'
	;;
exec)
	# behind -- stands a command's own line
	local end=${words[(i)--]}
	if (( end < CURRENT )); then
		shift $end words
		(( CURRENT -= end ))
		_normal
		return
	fi
	_arguments -s -A '-*' $shared \
	    '*--put=[copy in, as SRC\:DST]:file:_files' \
	    '*--get=[copy out, as SRC\:DST]:file:' \
	    '(-w --workdir)'{-w+,--workdir=}'[working folder]:folder:' \
	    "--meta=[write isolate's keys]:file:_files" \
	    '(-)1:command: _command_names -e' \
	    '*::arguments: _normal'
	;;
doctor)
	_arguments '--json[print one JSON object]' \
	    '(-h --help)'{-h,--help}'[print the options]' \
	    '--version[print the version]'
	;;
selftest)
	_arguments '--json[print one JSON object]' \
	    '--mode=[where the cells are made]:mode:(auto local)' \
	    "--way=[only this way]:way:($ways)" \
	    '(-v --verbose)'{-v,--verbose}'[tell what was seen]' \
	    '(-q --quiet)'{-q,--quiet}'[tell what is no pass alone]' \
	    '(-h --help)'{-h,--help}'[print the options]' \
	    '--version[print the version]'
	;;
help)
	compadd -- run exec doctor selftest
	;;
esac
