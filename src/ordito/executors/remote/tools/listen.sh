# sh listen.sh SLOTS: reads, for as long as there is something to read, what processes print that operations have left
# with their output. Without it they would wait for room in a pipe that nobody reads any more. SLOTS is one slot, or the
# folder of several.

for file in $(grep -lsF "ORDITO_OUTPUTS=$1/" /proc/[0-9]*/environ 2>/dev/null); do
    folder=${file%/environ}
    if [ -p "$folder/fd/1" ]; then
        file=$folder/fd/1
    elif [ -p "$folder/fd/2" ]; then
        file=$folder/fd/2
    else
        continue
    fi
    # In a session of its own where that can be had; it ends with the last one who can print.
    if command -v setsid >/dev/null 2>&1; then
        setsid cat "$file" >/dev/null 2>&1 </dev/null &
    else
        cat "$file" >/dev/null 2>&1 </dev/null &
    fi
done
exit 0
