#!/bin/bash
echo waiting
touch "$place/waiting"
while [ ! -e "$place/go" ]; do sleep 0.02; done
echo first >>"$place/done"
