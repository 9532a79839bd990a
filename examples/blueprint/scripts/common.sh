# shellcheck shell=bash
# What the scripts share; it is sourced by them. Every instance has a directory of its own, and every script can be run
# again, wherever it was cut off.

# Writes a line into the log: who, and what happens to it.
note() {
    mkdir -p "${DIRECTORY:?}"
    printf '%s %s\n' "$1" "$2" >>"$DIRECTORY/log"
}

# Writes a line into a file, once.
add_line() {
    grep -qsxF "$2" "$1" || printf '%s\n' "$2" >>"$1"
}

# Takes a line out of a file, and the file away with its last line.
remove_line() {
    [ -e "$1" ] || return 0
    grep -vxF "$2" "$1" >"$1.new" || true
    mv "$1.new" "$1"
    [ -s "$1" ] || rm "$1"
}
