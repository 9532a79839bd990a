#!/bin/bash
# Writes down the version of the service that it runs from, its step and its inputs; then does as a file orders, if any.
version=$(sed -n 's/^  template_version: //p' "${BASH_SOURCE%/*}/service.yaml")
echo "$version $ORDITO_STEP${size+ size=$size}${uses+ uses=$uses}" >> "$HOME/operations.log"
order=$HOME/orders/$ORDITO_STEP
[ ! -e "$order" ] || . "$order"
address=at-$INSTANCE
