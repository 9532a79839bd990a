#!/bin/bash
echo preparing
echo it broke >&2
exit 3
