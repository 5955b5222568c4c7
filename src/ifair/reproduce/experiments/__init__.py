"""One file per experiment: what it runs, what it keeps, its section of the page, its figures and claims.

A file is found by its ``EXPERIMENT``, see :class:`ifair.reproduce.experiment.Experiment`.
"""
