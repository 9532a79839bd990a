#!/bin/bash
# The last word on an upgrade.
exit @VERDICT@
