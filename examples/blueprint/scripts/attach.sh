#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$SOURCE_INSTANCE" "establish $TARGET_INSTANCE"
mkdir -p "$DIRECTORY/$SOURCE_INSTANCE"
echo "$ADDRESS" >"$DIRECTORY/$SOURCE_INSTANCE/address"
