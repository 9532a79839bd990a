#!/bin/bash
# Writes down that it begins, does what is ordered, and writes down that it has ended well. It starts no programs.
set -eu
cd "$HOME"
name=${CONFIG_word:-${ORDITO_STEP#rollback.}}
echo "begin $name" >>log
echo "it is ${CONFIG_ip:-nowhere}"
if [ -e "orders/$name" ]; then . "orders/$name"; fi
echo '{"did": "'"$name"'"}' >"$ORDITO_OUTPUTS"
echo "end $name" >>log
