"""Hostile inputs for the gateway: one module of rows for each protocol."""
