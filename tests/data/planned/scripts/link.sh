#!/bin/bash
# link
