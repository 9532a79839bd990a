"""Notices from outside: written down as jobs, and what triggers do about them."""
