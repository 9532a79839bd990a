#!/bin/sh
echo mount
