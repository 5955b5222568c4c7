"""Datasets of people with their provenance: found by name, fetched, checked and parsed."""
