# Read once by a shell that runs operations one after the other (see lane.py), from texts that it is sent
# (operation_text.py). Runs in any POSIX shell.
#
# This shell is the parent of the operation. It outlives a connection that is lost, writes down how the operation ended,
# and says so: in what the operation prints it puts lines of its own, which begin with a mark. Of the operation itself it
# does nothing but in a shell of its own, which becomes it; there ordito_refuse ends, here it only says why.
#
# ordito_tools and ordito_slot are set, and for each operation ordito_mark and ordito_identity; where others may take the
# ensemble over also ordito_epoch and ordito_worker, see epochs.sh. None of them is exported.
# The slot is this shell's own. What is written down about operations are lines of one file there, since making a file
# for each costs more than all the rest of a short one:
#
#     B IDENTITY PID START SETSID     it has begun
#     E IDENTITY STATUS               it has ended

. "$ordito_tools/undo.sh"
. "$ordito_tools/left_behind.sh"
. "$ordito_tools/epochs.sh"

# What is meant for processes of the operation, or comes of a connection that is gone, must not end this shell. A trap is
# not passed on, as an ignored signal would be.
trap : HUP INT TERM PIPE

# The pipe is opened for reading as well, so that nobody who prints gets SIGPIPE when the connection is lost.
{ command exec 1<>/proc/self/fd/1; } 2>/dev/null || :
exec 3>&1
unset SSH_CONNECTION SSH_CLIENT SSH_TTY SSH_ORIGINAL_COMMAND MAIL OLDPWD
if command -v setsid >/dev/null 2>&1; then ordito_setsid=setsid; else ordito_setsid=; fi
mkdir -p "$ordito_slot/work"
if { command exec 4>>"$ordito_slot/log" 5<"$ordito_slot/log"; }; then ordito_has_log=1; else ordito_has_log=; fi

ordito_refuse() {
    # Shells say little of why they could not write.
    [ "$1" != disk ] || { echo . | cat >"$ordito_slot/try" && rm -f "$ordito_slot/try"; }
    printf '\001%s refused %s\n' "$ordito_mark" "$*" >&3
    case $1 in void | late) printf 'E %s void\n' "$ordito_identity" >&4 ;; esac
    exit 125
}

# ordito_begin: writes down who begins, and says so. Where somebody has found out meanwhile that it did not begin, or has
# taken the ensemble over, it must not begin any more. Whoever does so makes that known first, and looks here then: so
# one of both sees the other.
ordito_begin() {
    [ -n "$ordito_has_log" ] || ordito_refuse disk
    ordito_line=
    { read -r ordito_line </proc/self/stat; } 2>/dev/null || ordito_line="$(exec sh -c 'echo $PPID') (sh)"
    # Behind the name, which may hold blanks: state, parent, group, session, and as the twentieth the start time.
    ordito_pid=${ordito_line%% *}
    set -- ${ordito_line##*) }
    printf 'B %s %s %s %s\n' "$ordito_identity" "$ordito_pid" "${20-0}" "$ordito_setsid" >&4 || ordito_refuse disk
    [ ! -e "$ordito_slot/void-$ordito_identity" ] || ordito_refuse void
    [ -z "${ordito_epoch-}" ] || ! ordito_is_late "${ordito_tools%/*}" || ordito_refuse late
    printf '\001%s begin %s %s\n' "$ordito_mark" "$ordito_pid" "${20-0}" >&3
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
    { cp -p "$1" "$2.ordito-partial" && chmod u+w "$2.ordito-partial" && mv -f "$2.ordito-partial" "$2"; } || {
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
    if [ -n "${ordito_folder-}" ]; then
        cd "$ordito_folder" || ordito_refuse folder "$ordito_folder"
    else
        cd "$ordito_slot/work" || ordito_refuse disk
    fi
    # A session of its own, so that all that belongs to it can be found. It is no new process.
    exec $ordito_setsid "$ordito_program" "$@" </dev/null 3>&- 4>&- 5>&-
}

# ordito_tell NAME FILE: says that a file comes, then the file; or why it is no file that can be read.
ordito_tell() {
    ordito_look_at "$2"
    if [ -n "$ordito_why" ]; then
        printf '\001%s unfit %s %s\n' "$ordito_mark" "$1" "$ordito_why" >&3
    elif [ -s "$2" ]; then
        printf '\001%s %s\n' "$ordito_mark" "$1" >&3
        head -c "$ordito_most" "$2" >&3
    fi
}

# ordito_is_held: whether some process can still print into what this shell prints into.
ordito_is_held() {
    for ordito_file in /proc/[0-9]*; do
        case $ordito_file in "/proc/$$") continue ;; esac
        if [ "$ordito_file/fd/1" -ef /proc/self/fd/1 ] || [ "$ordito_file/fd/2" -ef /proc/self/fd/1 ]; then
            return 0
        fi
    done
    return 1
}

# ordito_look_back: sets ordito_left to "left" where the operation has left a process in its session or a file that is to
# stay, and to "held" where that may go on printing. Hardly ever are many processes looked at to find that out.
ordito_look_back() {
    ordito_left=
    while IFS=' ' read -r ordito_line ordito_word ordito_pid ordito_word; do
        [ "$ordito_line" != B ] || break
    done <&5
    [ ! -e "$ordito_slot/kept" ] || ordito_left=left
    if [ -z "$ordito_setsid" ] || kill -0 -- "-$ordito_pid"; then
        ordito_left=left
        if ordito_is_held; then ordito_left=held; fi
    fi
}

# ordito_tidy: empties the slot, but for what the operation said, and for its own copies of artifacts where it has left
# somebody who was told where they are.
ordito_tidy() {
    [ -z "$ordito_left" ] || [ ! -e "$ordito_slot/work/service" ] || : >"$ordito_slot/kept"
    for ordito_file in environment unexported tree; do
        [ ! -e "$ordito_slot/$ordito_file" ] || rm -rf "$ordito_slot/$ordito_file"
    done
    for ordito_file in "$ordito_slot"/document.*; do
        [ ! -e "$ordito_file" ] || rm -f "$ordito_file"
    done
    [ ! -e "$ordito_slot/kept" ] || return 0
    if [ -d "$ordito_slot/work" ] && [ ! -L "$ordito_slot/work" ] && [ -r "$ordito_slot/work" ]; then
        for ordito_file in "$ordito_slot/work"/* "$ordito_slot/work"/.[!.]* "$ordito_slot/work"/..?*; do
            [ ! -e "$ordito_file" ] && [ ! -L "$ordito_file" ] || break
            ordito_file=
        done
        [ -n "$ordito_file" ] || return 0
    fi
    # What it made of its working directory may be a link: then that goes, and not what it leads to.
    rm -rf "$ordito_slot/work" || { chmod -R u+rwx "$ordito_slot/work" && rm -rf "$ordito_slot/work"; }
    mkdir "$ordito_slot/work"
}

# ordito_end STATUS WANTED: writes down and says how the operation ended; its result is told where outputs are WANTED.
# An operation that is ended from outside has not ended by itself, and what it left is no result.
ordito_end() {
    ordito_status=$1
    {
        [ -e "$ordito_slot/stopped-$ordito_identity" ] || printf 'E %s %s\n' "$ordito_identity" "$ordito_status" >&4
        [ -z "$2" ] || ordito_tell result "$ordito_slot/$ordito_identity.result"
        ordito_tell outputs "$ordito_slot/$ordito_identity.json"
        ordito_undo
        ordito_look_back
        ordito_tidy
    } 2>/dev/null
    printf '\001%s end %s %s\n' "$ordito_mark" "$ordito_status" "$ordito_left" >&3
}
