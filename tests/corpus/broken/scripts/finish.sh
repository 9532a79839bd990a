#!/bin/sh
echo finish
