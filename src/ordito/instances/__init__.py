"""What exists: instances, their states and status, and the late evaluation of functions."""
