#!/bin/sh
echo "this script only has to be there"
