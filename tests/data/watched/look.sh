#!/bin/bash
# Ends as a file named after the instance says; another one holds the port.
echo "$INSTANCE look" >> "$folder/log"
if [ -e "$folder/$INSTANCE.port" ]; then port=$(cat "$folder/$INSTANCE.port"); fi
if [ -e "$folder/$INSTANCE.token" ]; then token=$(cat "$folder/$INSTANCE.token"); echo "found $token"; fi
exit "$(cat "$folder/$INSTANCE.look" 2>/dev/null || echo 0)"
