# shellcheck shell=bash
# What the scripts of the shop's components share; it is sourced by them. An instance keeps everything in a directory
# of its own, $home. Every function here may be run again after it was cut off at any point.

home=${DIRECTORY:?}/${INSTANCE:?}

# Makes the instance's directory. The shop's directory is made too, but none above it: what is made here has to be
# removed by remove_home, and that could not know whose the others are.
make_home() {
    mkdir "$DIRECTORY" 2>/dev/null || [ -d "$DIRECTORY" ] || mkdir "$DIRECTORY"
    mkdir -p "$home"
}

# Removes the instance's directory, and the shop's if that was the last one in it.
remove_home() {
    rm -rf -- "$home"
    rmdir -- "$DIRECTORY" 2>/dev/null || true
}

# Prints the process id of the instance's server; fails if none runs. The number in the file is believed only if that
# process runs our program: the file may be incomplete, or the number may have passed on to a stranger.
server_pid() {
    local pid argument
    { read -r pid <"$home/pid"; } 2>/dev/null || return 1
    [[ $pid =~ ^[0-9]+$ ]] || return 1
    while IFS= read -r -d '' argument; do
        [ "$argument" != "$home/server.py" ] || { echo "$pid"; return 0; }
    done 2>/dev/null <"/proc/$pid/cmdline"
    return 1
}

# Tells whether the instance's server answers on $ADDRESS:$port. It says its name and its process id there, so no
# other server that happens to listen on that port is taken for it.
server_answers() (
    pid=$(server_pid) || exit 1
    exec 3<>"/dev/tcp/$ADDRESS/$port" || exit 1
    printf 'GET /health HTTP/1.0\r\n\r\n' >&3
    while IFS= read -r -t 5 -u 3 line; do
        [ "$line" != "$INSTANCE $pid" ] || exit 0
    done
    exit 1
) 2>/dev/null

# Prints why the server is not there, with the last words it said, and fails the operation.
server_failed() {
    echo "$INSTANCE does not run: $1. The end of $home/log:" >&2
    tail -n 20 "$home/log" >&2 || true
    exit 1
}

# Starts the instance's server on $ADDRESS:$port with the given further arguments, unless it runs already, and waits
# until it answers. Sets $url. A server that finds another one of its directory running ends at once with success, so
# a start that is run again never leaves two of them.
start_server() {
    local child='' deadline=$((SECONDS + 30))
    url=http://$ADDRESS:$port
    if server_answers; then
        return
    fi
    (
        cd /
        exec env -i PATH="$PATH" setsid python3 -B "$home/server.py" \
            --directory "$home" --name "$INSTANCE" --address "$ADDRESS" --port "$port" "$@"
    ) </dev/null >>"$home/log" 2>&1 &
    child=$!
    until server_answers; do
        if [ -n "$child" ] && ! kill -0 "$child" 2>/dev/null; then
            wait "$child" || server_failed "it ended with code $?"
            child=''
        fi
        if ((SECONDS >= deadline)); then
            stop_server
            server_failed "it did not answer on $ADDRESS:$port within 30 seconds"
        fi
        sleep 0.1
    done
    if [ -n "$child" ] && [ "$(server_pid)" != "$child" ]; then
        # Another one answers, so ours is about to find that out and to end.
        wait "$child" || true
    fi
}

# Ends the instance's server, if one runs: asks it to, and ends it by force if it takes longer than 30 seconds.
stop_server() {
    local signal pid deadline
    for signal in TERM KILL; do
        pid=$(server_pid) || return 0
        kill -s "$signal" "$pid" 2>/dev/null || true
        deadline=$((SECONDS + 30))
        while ((SECONDS < deadline)); do
            server_pid >/dev/null || return 0
            sleep 0.1
        done
    done
    echo "process $pid of $INSTANCE does not end" >&2
    return 1
}
