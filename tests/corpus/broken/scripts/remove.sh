#!/bin/sh
echo remove
