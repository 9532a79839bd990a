"""Parses arguments, calls one function of `ordito.app`, renders what it returns."""
