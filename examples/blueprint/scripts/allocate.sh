#!/bin/bash
set -eu
. "$(dirname "$0")/common.sh"

note "$INSTANCE" "create"
# The addresses that RFC 5737 keeps for documentation.
address=203.0.113.${INSTANCE##*_}
mkdir -p "$DIRECTORY/$INSTANCE"
echo "$address" >"$DIRECTORY/$INSTANCE/address"
