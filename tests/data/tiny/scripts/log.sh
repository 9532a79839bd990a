#!/bin/bash
echo "$INSTANCE" >>"$log"
answer="$said from $INSTANCE"
echo "said $answer"
