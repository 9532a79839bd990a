"""Archives of Alien4Cloud: their files, what they import by name and version, and the one service file that becomes of
them."""
