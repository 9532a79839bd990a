#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$SOURCE_INSTANCE" "establish $TARGET_INSTANCE"
add_line "$DIRECTORY/$SOURCE_INSTANCE/databases" "$TARGET_INSTANCE"
