"""What can be followed: topics, cursors, streams."""
