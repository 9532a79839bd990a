#!/bin/sh
echo join
