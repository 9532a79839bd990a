#!/bin/sh
echo "db_create"
