#!/bin/bash
# Writes down that it begins, does what is ordered, and writes down that it has ended well. It starts no programs.
set -eu
cd "$HOME"
name=$NODE.${ORDITO_STEP##*Standard.}
case $ORDITO_STEP in *check*) name=$NODE.check ;; esac
echo "begin $name" >>log
private_address=10.0.0.${#NODE}
if [ -e "orders/$name" ]; then . "orders/$name"; fi
echo "end $name" >>log
