# Sourced; ordito_slot is set.

# ordito_undo: removes the copies that were to be removed, and the folders made for them where nothing else is in them.
ordito_undo() {
    [ -f "$ordito_slot/undo" ] || return 0
    ordito_folders=
    while IFS= read -r ordito_line; do
        case $ordito_line in
        'f '*) rm -f "${ordito_line#f }" ;;
        'd '*) ordito_folders="${ordito_line#d }
$ordito_folders" ;;
        esac
    done <"$ordito_slot/undo"
    printf '%s' "$ordito_folders" | while IFS= read -r ordito_line; do rmdir "$ordito_line"; done 2>/dev/null
    rm -f "$ordito_slot/undo"
}
