#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$SOURCE_INSTANCE" "unlink $TARGET_INSTANCE"
rm -f "$DIRECTORY/$SOURCE_INSTANCE/address"
rmdir "$DIRECTORY/$SOURCE_INSTANCE" 2>/dev/null || true
