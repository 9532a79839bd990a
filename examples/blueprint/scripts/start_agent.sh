#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "agent start"
touch "$DIRECTORY/$INSTANCE/agent/running"
