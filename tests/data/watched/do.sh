#!/bin/bash
# Writes down what is done; a file named after the instance and its operation says how it ends.
operation=${ORDITO_STEP##*.}
echo "$INSTANCE $operation" >> "$folder/log"
test ! -e "$folder/$INSTANCE.$operation" || exit "$(cat "$folder/$INSTANCE.$operation")"
