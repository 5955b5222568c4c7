"""The page of ``ifair reproduce``: the paper's numbers and pictures next to ours, one module a section.

A section is a module with ``section(results)``, its blocks, and, where it has them, ``figures(results)``, its pictures
by the stem of their file, and ``claims(results)``, the paper's claims that its numbers speak to. What was not run is
left out: the lists are empty then. ``page`` puts them together.
"""
