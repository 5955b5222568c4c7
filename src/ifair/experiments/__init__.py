"""Experiments: settings in, results out as plain data that can be written to JSON."""
