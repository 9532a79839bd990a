#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$TARGET_INSTANCE" "unlink from $SOURCE_INSTANCE"
remove_line "$DIRECTORY/$TARGET_INSTANCE/users" "$SOURCE_INSTANCE"
