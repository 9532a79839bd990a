#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$TARGET_INSTANCE" "establish from $SOURCE_INSTANCE"
add_line "$DIRECTORY/$TARGET_INSTANCE/users" "$SOURCE_INSTANCE"
