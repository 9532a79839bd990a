#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "agent install"
mkdir -p "$DIRECTORY/$INSTANCE/agent"
