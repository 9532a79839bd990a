#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "monitoring stop"
rm -f "$DIRECTORY/$INSTANCE/watched"
