#!/bin/bash
# TARGETS still holds the instance that leaves, and perhaps others that have left just before it. So only those stay
# that are in the list now.
set -eu
. "$(dirname "$0")/members.sh"

staying=()
IFS=, read -ra targets <<<"$TARGETS"
for id in "${targets[@]}"; do
    if [ "$id" != "$TARGET" ] && grep -qs "^$id " "$members"; then
        staying+=("$id")
    fi
done
if [ -e "$members" ]; then
    write_members "${staying[@]}"
fi
