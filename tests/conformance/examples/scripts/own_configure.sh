#!/bin/sh
echo "own_configure"
