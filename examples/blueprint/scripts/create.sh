#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "create"
mkdir -p "$DIRECTORY/$INSTANCE"
