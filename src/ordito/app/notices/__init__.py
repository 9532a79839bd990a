"""Notices (notifications from outside): recorded as jobs, and the actions of triggers because of them."""
