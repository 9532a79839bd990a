#!/bin/bash
# A server may still run here if its start was cut off, so that it was never stopped.
set -eu
. "$(dirname "$0")/component.sh"

stop_server
remove_home
