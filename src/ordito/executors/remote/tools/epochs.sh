# Who may begin operations of an ensemble that machines take over from each other: each holder makes its epoch and itself
# known by a file, and whoever sees a later one, or an equal one of another holder, begins nothing any more. Files are
# only ever added while they count, so nobody needs a lock. ordito_epoch, ordito_worker and ordito_epochs (their folder) are
# set.

# ordito_is_late PLACE: whether somebody has taken the ensemble over that is in this folder.
ordito_is_late() {
    for ordito_file in "$1/$ordito_epochs"/*; do
        ordito_file=${ordito_file##*/}
        ordito_word=${ordito_file%%.*}
        case $ordito_word in '' | *[!0-9]*) continue ;; esac
        [ "$ordito_word" -le "$ordito_epoch" ] || return 0
        [ "$ordito_word" -lt "$ordito_epoch" ] || [ "$ordito_file" = "$ordito_epoch.$ordito_worker" ] || return 0
    done
    return 1
}

# ordito_enter PLACE: makes itself known, unless it is late.
ordito_enter() {
    mkdir -p "$1/$ordito_epochs" && : >"$1/$ordito_epochs/$ordito_epoch.$ordito_worker" || return 3
    ! ordito_is_late "$1" || return 4
    for ordito_file in "$1/$ordito_epochs"/*; do
        ordito_word=${ordito_file##*/}
        [ "${ordito_word%%.*}" -ge "$ordito_epoch" ] || rm -f "$ordito_file"
    done
}
