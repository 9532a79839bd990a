#!/bin/sh
echo "wp_db_configure"
