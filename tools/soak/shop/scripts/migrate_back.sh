#!/bin/bash
sed -i '/^@RELEASE@$/d' "$HOME/levels"
