"""One file per verb: its arguments, the one function of `ordito.app` it calls, and the view of what that returns."""
