#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "start"
touch "$DIRECTORY/$INSTANCE/running"
