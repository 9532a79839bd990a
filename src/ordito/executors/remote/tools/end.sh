# sh end.sh PID START SESSION SLOT IDENTITY GRACE: ends an operation and everything that it started. First TERM, after GRACE
# seconds KILL. Prints the ids of what cannot be ended. SESSION is not empty where PID leads a session of its own.
#
# Processes are found by their session, by the identity in their environment (those with another session), and by their
# parents. Where there is no /proc the process group has to do. What has ended by itself is let be, and its end counts.

pid=$1 start=$2 session=$3 slot=$4 identity=$5 grace=$6

is_ours() {
    # The id of a session is not given out again while it has members: is a younger process its leader, it is empty.
    { read -r line <"/proc/$pid/stat"; } 2>/dev/null || return 0
    set -- ${line##*) }
    [ "${20}" = "$start" ]
}

# members: sets `found` to the living processes of the operation.
members() {
    found=' ' table=
    if is_ours; then wanted=$pid; else wanted=none; fi
    for folder in /proc/[0-9]*; do
        { read -r line <"$folder/stat"; } 2>/dev/null || continue
        id=${folder#/proc/}
        set -- ${line##*) }
        case $1 in [ZXx]) continue ;; esac
        [ "$id" != "$$" ] || continue
        table="$table $id:$2"
        if [ "$id" = "$wanted" ]; then
            found="$found$id "
        elif [ -n "$session" ] && [ "$4" = "$wanted" ]; then
            found="$found$id "
        fi
    done
    for file in $(grep -lsF "ORDITO_OUTPUTS=$slot/$identity" /proc/[0-9]*/environ 2>/dev/null); do
        id=${file#/proc/} id=${id%/environ}
        case "$table " in *" $id:"*) ;; *) continue ;; esac
        case $found in *" $id "*) ;; *) found="$found$id " ;; esac
    done
    more=1
    while [ -n "$more" ]; do
        more=
        for entry in $table; do
            case $found in *" ${entry%:*} "*) continue ;; esac
            case $found in *" ${entry#*:} "*) found="$found${entry%:*} " more=1 ;; esac
        done
    done
}

# stop_counting: how it ends from now on is not how it ended, unless it has ended already.
stop_counting() {
    if grep -qsF "E $identity " "$slot/log"; then exit 0; fi
    : >"$slot/stopped-$identity"
}

if [ ! -r /proc/$$/stat ]; then
    stop_counting
    kill -s TERM -- "-$pid" 2>/dev/null || kill -s TERM "$pid" 2>/dev/null || exit 0
    sleep "$grace"
    kill -s KILL -- "-$pid" 2>/dev/null || kill -s KILL "$pid" 2>/dev/null
    exit 0
fi

asked=' ' waited=0
limit=$((grace * 10))
while :; do
    members
    [ "$found" != ' ' ] || break
    [ "$asked" != ' ' ] || stop_counting
    if [ "$waited" -ge $((limit + 300)) ]; then
        printf '%s\n' $found
        break
    fi
    for id in $found; do
        if [ "$waited" -ge "$limit" ]; then
            kill -s KILL "$id" 2>/dev/null
        else
            case $asked in *" $id "*) continue ;; esac
            kill -s TERM "$id" 2>/dev/null
            asked="$asked$id "
        fi
    done
    sleep 0.1 2>/dev/null || { sleep 1; waited=$((waited + 9)); }
    waited=$((waited + 1))
done
exit 0
