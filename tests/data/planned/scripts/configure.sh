#!/bin/bash
# configure
