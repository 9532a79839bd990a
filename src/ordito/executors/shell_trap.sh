# Sourced by the wrapper of a shell operation when its script uses `trap` for the first time (see shell.py).
# Works in any POSIX shell, under whatever options, IFS and functions the script has set by then.

# Is this the script's own shell? A subshell that sets a trap must not write the result. The file is read without a new
# process, so it is the reader's own.
__ordito_is_main() {
    read -r __ordito_pid __ordito_rest </proc/self/stat && [ "$__ordito_pid" = "$$" ]
} 2>/dev/null

# Before the script's own EXIT trap, whose $? must be what it would be without us. The variables are written already
# now, for the case that the trap does not come to its end.
__ordito_before() {
    __ordito_in_trap=1 __ordito_status=$1
    if __ordito_is_main; then __ordito_write "$1" unsure; fi
    return "$1"
} 2>/dev/null

# After the script's own EXIT trap.
__ordito_after() {
    if __ordito_is_main; then __ordito_end "$__ordito_status"; fi
} 2>/dev/null

# Before an `exit` in the script's own EXIT trap, which ends the trap and us with it.
__ordito_last() {
    if __ordito_is_main; then __ordito_write "$__ordito_bye" end; fi
    return 0
} 2>/dev/null

# Stands in for `trap`: an action for EXIT becomes a part of ours, everything else is passed on. An action that holds
# our own functions is a saved one that is set again.
__ordito_trap() {
    if [ "${1-}" = -- ]; then shift; fi
    case $#:${1-} in
    1:EXIT | 1:0) set -- - EXIT ;;
    [01]:* | *:-[lpP]*)
        command trap "$@"
        return
        ;;
    *:*__ordito_before*) return ;;
    *:*__ordito_end*)
        shift
        set -- - "$@"
        ;;
    esac
    __ordito_new=$1
    shift
    for __ordito_signal; do
        case $__ordito_signal:$__ordito_new in
        EXIT: | exit: | SIGEXIT: | 0: | EXIT:- | exit:- | SIGEXIT:- | 0:-)
            command trap '__ordito_end "$?"' EXIT
            ;;
        EXIT:* | exit:* | SIGEXIT:* | 0:*)
            __ordito_action=$__ordito_new
            command trap '
                if __ordito_before "$?"; then eval "$__ordito_action"; else eval "$__ordito_action"; fi
                __ordito_after' EXIT
            ;;
        *) command trap -- "$__ordito_new" "$__ordito_signal" || return ;;
        esac
    done
}
