#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "stop"
rm -f "$DIRECTORY/$INSTANCE/running"
