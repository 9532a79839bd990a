"""Blueprints of Cloudify: their files, what they import, and the one service file that becomes of them."""
