#!/bin/bash
set -eu
. "$(dirname "$0")/members.sh"

IFS=, read -ra targets <<<"$TARGETS"
write_members "${targets[@]}"
