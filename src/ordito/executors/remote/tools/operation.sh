# Sourced by the text that is sent for each operation (see operation_text.py). Runs in any POSIX shell.
#
# The shell that reads this stays beside the operation as its parent: it outlives a connection that is lost, writes down
# how the operation ended, and says so. On descriptor 3 it speaks to the orchestrator, in lines that begin with a mark.
#
# ordito_mark, ordito_slot and ordito_tools are set, and not exported.

. "$ordito_tools/undo.sh"

# What is meant for processes of the operation, or comes of a connection that is gone, must not end this shell. A trap is
# not passed on, as an ignored signal would be.
trap : HUP INT TERM PIPE

# Both pipes are opened for reading as well, so that nobody who prints gets SIGPIPE when the connection is lost.
exec 3>&2
if { command exec 4<>/proc/self/fd/3; } 2>/dev/null; then exec 3>&4 4>&-; fi
{ command exec 1<>/proc/self/fd/1; } 2>/dev/null || :
unset SSH_CONNECTION SSH_CLIENT SSH_TTY SSH_ORIGINAL_COMMAND MAIL OLDPWD

ordito_refuse() {
    printf '\n%s refused %s\n' "$ordito_mark" "$*" >&3
    exit 125
}

# ordito_begin IDENTITY FOLDER...: makes the slot, and the folders of slots to come; writes down who begins, and says so.
# Where the file is there already, somebody has found out that this did not begin, and it must not begin any more.
ordito_begin() {
    ordito_identity=$1
    shift
    [ -d "$ordito_slot/work" ] || mkdir -p "$ordito_slot/work" "$@" || ordito_refuse disk
    ordito_line=
    { read -r ordito_line </proc/$$/stat; } 2>/dev/null || :
    # Behind the name, which may hold blanks: state, parent, group, session, and as the twentieth the start time.
    set -- ${ordito_line##*) }
    set -C
    printf '%s\n%s %s %s\n' "$ordito_identity" $$ "${20-0}" "${4-$$}" >"$ordito_slot/begin" || ordito_refuse disk
    set +C
    printf '\n%s begin %s %s %s\n' "$ordito_mark" $$ "${20-0}" "${4-$$}" >&3
    exec 2>&1
}

# ordito_make_folders FOLDER REMOVE: makes a folder, and notes which of its parents were not there.
ordito_make_folders() {
    ordito_missing=
    ordito_parent=$1
    while [ -n "$ordito_parent" ] && [ ! -e "$ordito_parent" ]; do
        ordito_missing="d $ordito_parent
$ordito_missing"
        ordito_parent=${ordito_parent%/*}
    done
    [ -z "$2" ] || printf '%s' "$ordito_missing" >>"$ordito_slot/undo"
    mkdir -p "$1" || ordito_refuse copy "$1"
}

# ordito_copy SOURCE TARGET REMOVE: whoever looks at the target sees the old file or the whole new one.
ordito_copy() {
    ordito_make_folders "${2%/*}" "$3"
    [ ! -d "$2" ] || ordito_refuse copy "$2: there is a folder of that name"
    [ -z "$3" ] || printf 'f %s\n' "$2" >>"$ordito_slot/undo"
    { cp -p "$1" "$2.ordito-partial" && mv -f "$2.ordito-partial" "$2"; } || {
        rm -f "$2.ordito-partial"
        ordito_refuse copy "$2"
    }
}

# ordito_link SOURCE TARGET NAME...: links everything in a folder but what has one of these names.
ordito_link() {
    ordito_source=$1 ordito_target=$2
    shift 2
    for ordito_file in "$ordito_source"/* "$ordito_source"/.[!.]*; do
        [ -e "$ordito_file" ] || continue
        for ordito_name; do
            [ "$ordito_file" != "$ordito_source/$ordito_name" ] || continue 2
        done
        ln -s "$ordito_file" "$ordito_target/" || ordito_refuse disk
    done
}

# ordito_exec FILE NAME ARGUMENT...: becomes the interpreter, as it is named or else as it is found in PATH.
ordito_exec() {
    if [ -x "$1" ]; then
        ordito_program=$1
    elif command -v "$2" >/dev/null 2>&1; then
        ordito_program=$2
    else
        ordito_refuse interpreter "$2"
    fi
    shift 2
    cd "$ordito_slot/work" || ordito_refuse disk
    exec "$ordito_program" "$@" </dev/null 3>&-
}

# ordito_tell NAME FILE: says that a file comes, then the file.
ordito_tell() {
    [ ! -f "$2" ] || [ ! -s "$2" ] || {
        printf '\n%s %s\n' "$ordito_mark" "$1"
        cat "$2"
    } >&3
}

# ordito_end STATUS WANTED: writes down and says how the operation ended; its result is told where outputs are WANTED.
ordito_end() {
    exec 2>/dev/null
    printf '%s\n' "$1" >"$ordito_slot/end"
    [ -z "$2" ] || ordito_tell result "$ordito_slot/result"
    ordito_tell outputs "$ordito_slot/outputs.json"
    ordito_undo
    ordito_status=$1
    if [ -e "$ordito_slot/kept" ]; then :; else
        set -- "$ordito_slot/work"/* "$ordito_slot/work"/.[!.]* "$ordito_slot/work"/..?*
        for ordito_file; do
            if [ -e "$ordito_file" ] || [ -L "$ordito_file" ]; then
                rm -rf "$@" || { chmod -R u+rwx "$ordito_slot/work" && rm -rf "$@"; }
                break
            fi
        done
    fi
    printf '\n%s end %s\n' "$ordito_mark" "$ordito_status" >&3
}
