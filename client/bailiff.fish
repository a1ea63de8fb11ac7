# Completion of bailiff for fish.

# The options of exec that a value follows.
set -g __bailiff_valued --mode --way -e --env --env-file -t --timeout --cpu-time \
    --cgroup --cpus -m --memory --pids --fsize --disk --max-output --ro-bind \
    --expose --tmpfs --net --require --status-fd --put --get -w --workdir --meta

# True where the command of exec goes on, and then the words that it has already.
function __bailiff_own
    set -l words (commandline -opc)
    test (count $words) -gt 2 -a "$words[2]" = exec; or return 1
    set -l skip no
    for i in (seq 3 (count $words))
        if test $skip = yes
            set skip no
        else if test "$words[$i]" = --
            set -e words[1..$i]
            # without words it would read its input
            set -q words[1]; and string escape -- $words
            return 0
        else if contains -- "$words[$i]" $__bailiff_valued
            set skip yes
        else if not string match -q -- '-*' "$words[$i]"
            string escape -- $words[$i..]
            return 0
        end
    end
    return 1
end

# As that command completes its own.
function __bailiff_rest
    set -l words (__bailiff_own) (commandline -ct)
    complete --do-complete=(string join -- ' ' $words)
end

# It belongs to one of these commands of bailiff itself.
function __bailiff_in
    set -l words (commandline -opc)
    contains -- "$words[2]" $argv; and not __bailiff_own >/dev/null
end

# The command of exec: nothing before it begins.
function __bailiff_command
    set -l words (commandline -opc)
    test "$words[2]" = exec; and not contains -- "$words[-1]" $__bailiff_valued
end

set -l any run exec doctor selftest help
set -l none "not __fish_seen_subcommand_from $any"
set -l both '__bailiff_in run exec'
set -l run '__bailiff_in run'
set -l exec '__bailiff_in exec'
set -l doctor '__bailiff_in doctor'
set -l selftest '__bailiff_in selftest'
set -l ways 'auto setuid capabilities socket root rootless bwrap plain'

complete -c bailiff -n $none -f
complete -c bailiff -n $none -a run -d 'Judge one answer'
complete -c bailiff -n $none -a exec -d 'Run one command in a fresh cell'
complete -c bailiff -n $none -a doctor -d 'Say what this machine can do'
complete -c bailiff -n $none -a selftest -d 'Try what is forbidden'
complete -c bailiff -n $none -a help -d 'Tell the options of a command'
complete -c bailiff -n '__bailiff_in help' -f -a 'run exec doctor selftest'
complete -c bailiff -n 'not __bailiff_own >/dev/null' -s h -l help -d 'Print the options'
complete -c bailiff -n 'not __bailiff_own >/dev/null; and not __bailiff_in help' -l version -d 'Print the version'
complete -c bailiff -n __bailiff_command -f -a '(__bailiff_rest)'

complete -c bailiff -n $both -l mode -x -a 'auto local' -d 'Where the cells are made'
complete -c bailiff -n $both -l way -x -a $ways -d 'How the cells are made'
complete -c bailiff -n $both -s e -l env -x -a '(set -nx)' -d 'Set or pass on a variable'
complete -c bailiff -n $both -l env-file -r -F -d 'Variables, one to a line'
complete -c bailiff -n $both -s t -l timeout -x -d 'Wall time'
complete -c bailiff -n $both -l cpu-time -x -d 'Processor time of one process'
complete -c bailiff -n $both -l cgroup -x -a 'auto scope none' -d 'A control group for each cell'
complete -c bailiff -n $both -l cpus -x -d 'Processors, in a control group'
complete -c bailiff -n $both -s m -l memory -x -d 'Memory of one process'
complete -c bailiff -n $both -l pids -x -d 'Processes'
complete -c bailiff -n $both -l fsize -x -d 'Largest file'
complete -c bailiff -n $both -l disk -x -d 'All private folders together'
complete -c bailiff -n $both -l max-output -x -d 'Of each stream'
complete -c bailiff -n $both -l ro-bind -r -F -d 'Show a folder, as SRC:DST'
complete -c bailiff -n $both -l expose -x -a '(__fish_complete_directories)' -d 'Show a folder at its own path'
complete -c bailiff -n $both -l tmpfs -x -d 'An empty folder, as DST:SIZE'
complete -c bailiff -n $both -l net -x -a loopback -d 'Network of a cell'
complete -c bailiff -n $both -l require -x -a '(__fish_complete_list , "string split \" \" \"uid net mount pid ipc seccomp cgroup none\"")' -d 'No run without these'
complete -c bailiff -n $both -l json -d 'Print one JSON object'
complete -c bailiff -n $both -l status-fd -x -d 'Write that object to a descriptor'
complete -c bailiff -n $both -l keep -d 'Leave the cells for a look'
complete -c bailiff -n $both -s v -l verbose -d 'Tell times and memory'
complete -c bailiff -n $both -s q -l quiet -d 'No warnings'

complete -c bailiff -n $run -l answer -r -F -d 'The answer'
complete -c bailiff -n $run -l judge -r -F -d 'A verifier alone'
complete -c bailiff -n $run -l judge-mode -x -a 'separate shared' -d 'How judge and answer are kept apart'
complete -c bailiff -n $run -l judge-timeout -x -d 'Wall time of the judge'
complete -c bailiff -n $run -l judge-net -x -a 'loopback host' -d 'Network of the judge'
complete -c bailiff -n $run -l keep-output -x -d 'Of streams in the result'
complete -c bailiff -n $run -l artifacts -x -a '(__fish_complete_directories)' -d 'Gets what the answer left'
complete -c bailiff -n $run -l exit-zero -d '0 for every verdict'

complete -c bailiff -n $exec -l put -r -F -d 'Copy in, as SRC:DST'
complete -c bailiff -n $exec -l get -x -d 'Copy out, as SRC:DST'
complete -c bailiff -n $exec -s w -l workdir -x -d 'Working folder'
complete -c bailiff -n $exec -l meta -r -F -d "Write isolate's keys"

complete -c bailiff -n $doctor -f -l json -d 'Print one JSON object'
complete -c bailiff -n $selftest -f -l json -d 'Print one JSON object'
complete -c bailiff -n $selftest -l mode -x -a 'auto local' -d 'Where the cells are made'
complete -c bailiff -n $selftest -l way -x -a $ways -d 'Only this way'
complete -c bailiff -n $selftest -f -s v -l verbose -d 'Tell what was seen'
complete -c bailiff -n $selftest -f -s q -l quiet -d 'Tell what is no pass alone'
