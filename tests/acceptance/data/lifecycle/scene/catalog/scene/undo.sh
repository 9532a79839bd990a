#!/bin/bash
# Writes down that it begins, does what is ordered, and writes down that it has ended well. It starts no programs.
set -eu
cd "$HOME"
read -r recorded <"$ORDITO_EXECUTE_RESULT" || true
name=${recorded##*\"did\":\"}
name=${name%%\"*}.undo
echo "begin $name" >>log
if [ -e "orders/$name" ]; then . "orders/$name"; fi
echo "end $name" >>log
