#!/bin/sh
echo "wordpress_install"
