# sh find.sh JOBS IDENTITY [SLOT]: what is known of an attempt at a step. JOBS are the folders of a job's slots, as a
# prefix. Prints nothing where it has not begun; where a SLOT is given, it then never will. Else
#
#     slot PATH
#     began PID START SESSION    SESSION is empty where the process leads none of its own
#     running | gone | ended STATUS
#     result SIZE WHY     and so many bytes; WHY it is no file that can be read, where it is none
#     outputs SIZE WHY    and so many bytes

. "${0%/*}/left_behind.sh"

show() {
    size=0
    ordito_look_at "$2"
    [ -n "$ordito_why" ] || [ ! -f "$2" ] || size=$(head -c "$ordito_most" "$2" | wc -c)
    printf '%s %s %s\n' "$1" $((size)) "$ordito_why"
    # Exactly so many, whatever a daemon does to the file meanwhile.
    [ "$size" -eq 0 ] || { cat "$2" && cat /dev/zero; } 2>/dev/null | head -c "$((size))"
}

jobs=$1 identity=$2
# In this order: whoever begins writes that down first, and then looks for this file.
[ -z "$3" ] || { mkdir -p "$3" && : >"$3/void-$identity"; } || exit 1
set --
for file in "$jobs".*/*/log; do [ ! -f "$file" ] || set -- "$@" "$file"; done
log=
[ $# = 0 ] || for file in $(grep -lsF "B $identity " "$@"); do log=$file; done
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
