"""Ordito: a TOSCA orchestrator."""

__version__ = "0.1.0"
