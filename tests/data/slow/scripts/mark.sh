#!/bin/bash
echo second >>"$place/done"
