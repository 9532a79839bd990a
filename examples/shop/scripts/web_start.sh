#!/bin/bash
# web_1 listens on the first port of the tier, web_2 on the next one, and so on.
set -eu
. "$(dirname "$0")/component.sh"

port=$((PORT + ${INSTANCE##*_} - 1))
start_server --api "$API_URL"
