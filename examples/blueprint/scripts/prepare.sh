#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$SOURCE_INSTANCE" "preconfigure $TARGET_INSTANCE"
add_line "$DIRECTORY/$SOURCE_INSTANCE/prepared" "$TARGET_INSTANCE"
