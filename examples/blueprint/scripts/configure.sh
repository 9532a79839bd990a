#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "configure"
echo "node=$NODE" >"$DIRECTORY/$INSTANCE/settings"
