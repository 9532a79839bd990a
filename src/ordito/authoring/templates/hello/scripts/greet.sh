#!/bin/bash
# The inputs of the operation are variables here: "name" is one. A variable that is set here can be an output.
greeting="Hello, $name!"
echo "$greeting"
