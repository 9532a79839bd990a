#!/bin/bash
set -eu
. "$(dirname "$0")/component.sh"

stop_server
