#!/bin/sh
echo head
