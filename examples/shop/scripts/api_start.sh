#!/bin/bash
set -eu
. "$(dirname "$0")/component.sh"

port=$PORT
start_server --database "$DATABASE"
