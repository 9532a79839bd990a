#!/bin/sh
echo "wordpress_configure"
