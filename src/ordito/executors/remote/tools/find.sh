# sh find.sh JOBS IDENTITY [SLOT]: what is known of an attempt at a step. JOBS are the folders of a job's slots, as a
# prefix. Prints nothing where it has not begun; where a SLOT is given, it then never will. Else
#
#     slot PATH
#     began PID START SESSION    SESSION is empty where the process leads none of its own
#     running | gone | ended STATUS
#     result SIZE      and so many bytes
#     outputs SIZE     and so many bytes

show() {
    size=0
    [ ! -f "$2" ] || size=$(wc -c <"$2")
    printf '%s %s\n' "$1" $((size))
    [ "$size" -eq 0 ] || cat "$2"
}

jobs=$1 identity=$2
# In this order: whoever begins writes that down first, and then looks for this file.
[ -z "$3" ] || { mkdir -p "$3" && : >"$3/void-$identity"; } || exit 1
log=
for file in $(grep -lsF "B $identity " "$jobs".*/*/log); do log=$file; done
[ -n "$log" ] || exit 0
slot=${log%/log}
rest=$(grep -F "B $identity " "$log")
set -- ${rest#"B $identity "}
pid=$1 start=$2 session=$3
state=gone
if { read -r line <"/proc/$pid/stat"; } 2>/dev/null; then
    set -- ${line##*) }
    case $1:${20} in [!ZXx]:"$start") state=running ;; esac
elif [ ! -r /proc/$$/stat ] && kill -0 "$pid" 2>/dev/null; then
    state=running
fi
# After that: it may have ended between the two looks.
rest=$(grep -F "E $identity " "$log")
if [ -n "$rest" ] && [ ! -e "$slot/stopped-$identity" ]; then
    state="ended ${rest#"E $identity "}"
fi
case $state in 'ended void'*) exit 0 ;; esac
printf 'slot %s\nbegan %s %s %s\n%s\n' "$slot" "$pid" "$start" "$session" "$state"
show result "$slot/$identity.result"
show outputs "$slot/$identity.json"
