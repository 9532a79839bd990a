#!/bin/bash
# The members of a balancer are files in a folder of it, called after them.
set -eu
members=$DIRECTORY/$SOURCE_INSTANCE/members
case $ORDITO_OPERATION in
    add_target)
        mkdir -p "$members"
        : >"$members/$TARGET"
        ;;
    remove_target) rm -f "$members/$TARGET" ;;
esac
