#!/bin/bash
set -eu
. "$(dirname "$0")/component.sh"

make_home
cp "$library" "$home/http_service.py"
cp "$program" "$home/server.py"
