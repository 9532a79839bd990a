# Sourced by the wrapper of a bash operation that has outputs, when it writes them (see shell.py).

# Writes a variable in the format of the result file (see result_files.py): an indexed array as a list, an associative one as
# a map. Bash older than 4.4 cannot tell them apart, and gives the first element.
__ordito_value() {
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
        [ -z "${!1+x}" ] || printf '%s\0' "$1" text "${!1}"
        return
    fi
    local -
    set +eux
    local -n __ordito_variable=$1
    local __ordito_key
    case ${__ordito_variable@a} in
    *a*) printf '%s\0' "$1" list "${#__ordito_variable[@]}" "${__ordito_variable[@]}" ;;
    *A*)
        printf '%s\0' "$1" map "${#__ordito_variable[@]}"
        for __ordito_key in "${!__ordito_variable[@]}"; do
            printf '%s\0' "$__ordito_key" "${__ordito_variable[$__ordito_key]}"
        done
        ;;
    *) [ -z "${__ordito_variable+x}" ] || printf '%s\0' "$1" text "$__ordito_variable" ;;
    esac
}
