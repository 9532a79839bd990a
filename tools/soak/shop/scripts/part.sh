#!/bin/bash
# Every operation of every part: a part has a directory, and a server one process that is called after it.
set -eu
home=$DIRECTORY/$INSTANCE

# Sets $server to the process of the part, if one runs.
find_server() {
    local name
    { read -r server <"$home/pid"; } 2>/dev/null || return 1
    { IFS= read -r -d '' name <"/proc/$server/cmdline"; } 2>/dev/null || return 1
    [ "$name" = "soak-server $home" ]
}

start_server() {
    local child
    if find_server; then return; fi
    (
        cd /
        exec env -i PATH="$PATH" setsid bash -c \
            'echo $$ >"$1/pid.new" && mv "$1/pid.new" "$1/pid" && exec -a "soak-server $1" sleep infinity' - "$home"
    ) </dev/null >/dev/null 2>&1 &
    child=$!
    until find_server; do
        kill -0 "$child" || exit 4
        sleep 0.005
    done
}

stop_server() {
    while find_server; do
        kill -KILL "$server" 2>/dev/null || true
        sleep 0.005
    done
    rm -f "$home/pid"
}

case $ORDITO_OPERATION in
    create)
        mkdir -p "$home"
        mark=$INSTANCE
        ;;
    configure)
        echo "configured with $PASSWORD"
        echo "$RELEASE" >"$home/release"
        ;;
    start) start_server ;;
    stop) stop_server ;;
    delete)
        stop_server
        rm -rf "$home"
        ;;
    heal)
        # What has lost its files cannot be repaired in place.
        [ -d "$home" ]
        [ "${INSTANCE%_*}" = database ] || start_server
        ;;
    touch) echo touched >>"$home/touched" ;;
    check)
        # Of what was at work when the program died only a start can be seen.
        case ${in_doubt:-} in
            "" | Standard.start) ;;
            *) echo '{"ordito.done": false}' >"$ORDITO_OUTPUTS" ;;
        esac
        [ -d "$home" ]
        [ "${INSTANCE%_*}" = database ] || find_server
        ;;
esac
