#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$SOURCE_INSTANCE" "unlink $TARGET_INSTANCE"
remove_line "$DIRECTORY/$SOURCE_INSTANCE/databases" "$TARGET_INSTANCE"
remove_line "$DIRECTORY/$SOURCE_INSTANCE/prepared" "$TARGET_INSTANCE"
