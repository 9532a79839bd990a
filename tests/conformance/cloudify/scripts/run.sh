#!/bin/bash
ctx logger info "hello"
