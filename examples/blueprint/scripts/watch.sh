#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "monitoring start"
touch "$DIRECTORY/$INSTANCE/watched"
