#!/bin/bash
# create
