#!/bin/bash
# delete
