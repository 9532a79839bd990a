#!/bin/bash
# Ends as a file in the home directory that is named after the instance and its operation says, and kills what runs it
# where that says "kill".
said=$HOME/$INSTANCE.${ORDITO_STEP##*.}
[ -e "$said" ] || exit 0
read -r end < "$said"
[ "$end" != kill ] || { kill -9 "$PPID"; sleep 1; exit 9; }
exit "$end"
