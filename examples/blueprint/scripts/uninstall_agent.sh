#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "agent uninstall"
rm -rf "${DIRECTORY:?}/$INSTANCE/agent"
rmdir "$DIRECTORY/$INSTANCE" 2>/dev/null || true
