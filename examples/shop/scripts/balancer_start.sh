#!/bin/bash
# The list of members is written when the members are linked, which is after this. Until then there is none.
set -eu
. "$(dirname "$0")/component.sh"

port=$PORT
start_server --members "$home/members"
