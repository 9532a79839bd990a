#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "agent stop"
rm -f "$DIRECTORY/$INSTANCE/agent/running"
