# sh find.sh JOBS IDENTITY [SLOT]: what is known of an attempt at a step. JOBS are the folders of a job's slots, as a
# prefix; IDENTITY is the first line of the file "begin" of its slot. Prints nothing where no slot is that attempt's, else
#
#     slot PATH
#     began PID START SESSION    SESSION is empty where the process leads none of its own
#     running | gone | ended STATUS
#     result SIZE      and so many bytes
#     outputs SIZE     and so many bytes

is_identity() {
    { IFS= read -r line <"$1/begin"; } 2>/dev/null && [ "$line" = "$identity" ]
}

show() {
    size=0
    [ ! -f "$2" ] || size=$(wc -c <"$2")
    printf '%s %s\n' "$1" $((size))
    [ "$size" -eq 0 ] || cat "$2"
}

jobs=$1 identity=$2 slot=
if [ -n "$3" ] && is_identity "$3"; then
    slot=$3
else
    for folder in "$jobs".*/*; do
        if is_identity "$folder"; then
            slot=$folder
            break
        fi
    done
fi
if [ -z "$slot" ]; then
    # What has not begun must not begin after somebody was told so.
    [ -n "$3" ] && mkdir -p "$3" && (set -C && echo void >"$3/begin") 2>/dev/null && exit 0
    [ -n "$3" ] && is_identity "$3" || exit 0
    slot=$3
fi
{ read -r line && read -r pid start session; } <"$slot/begin" || exit 0
state=gone
if [ -f "$slot/end" ]; then
    :
elif { read -r line <"/proc/$pid/stat"; } 2>/dev/null; then
    set -- ${line##*) }
    case $1:${20} in [!ZXx]:"$start") state=running ;; esac
elif [ ! -r /proc/$$/stat ] && kill -0 "$pid" 2>/dev/null; then
    state=running
fi
# After that: it may have ended between the two looks.
if [ -s "$slot/end" ] && [ ! -e "$slot/stopped" ]; then
    read -r status <"$slot/end"
    state="ended $status"
fi
printf 'slot %s\nbegan %s %s %s\n%s\n' "$slot" "$pid" "$start" "$session" "$state"
show result "$slot/result"
show outputs "$slot/outputs.json"
