"""The ensemble in git: the state of working trees, the commits of jobs, and the lock that clones share."""
