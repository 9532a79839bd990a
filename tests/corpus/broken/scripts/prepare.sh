#!/bin/sh
echo prepare
