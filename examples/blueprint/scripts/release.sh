#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "delete"
rm -rf "${DIRECTORY:?}/$INSTANCE"
