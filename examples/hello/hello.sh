#!/bin/bash
# The inputs of the operation are variables here, and a variable that is set here is an output of the operation.
# Nothing is made that outlives the script, so undeploying needs no script.
export greeting="Hello, $name! I am $INSTANCE."
echo "$greeting"
