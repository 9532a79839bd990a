"""What is done with git: working trees are looked at, and the files of a job are committed."""
