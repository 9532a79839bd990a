#!/bin/bash
echo waiting
touch "$place/waiting"
while [ ! -e "$place/go" ]; do sleep 0.1; done
echo first >>"$place/done"
