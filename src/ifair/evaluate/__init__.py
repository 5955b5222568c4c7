"""The one harness: split, train a candidate, measure it, search settings, choose by a rule, compare fronts.

Whatever gives scores about people is a candidate. ``ifair tune``, ``audit``, ``report``, ``demo`` and ``reproduce`` all
train and measure through here. Modules are imported one by one, so that rules and fronts need no model:

- ``splits``: thirds of a dataset, encoded alike, with groups, queries and neighbours.
- ``candidates``: what is compared, as plain data: a representation, its setting, a model, post-processing.
- ``arms``: which of them a search varies, and which an audit compares where nobody searched.
- ``training``: fit a candidate on the training part, or on the whole table: one estimator over the table as it is.
- ``measures``: what outcomes for a part are worth and how fair they are; ``judgement``: the same with intervals, from
  the resamples of ``resampling``.
- ``search``, ``space``: a multi-objective search that stops and resumes without a difference.
- ``rules``: most useful, fairest, balanced. ``fronts``: Pareto fronts and their volumes.
- ``statistics``: repeated splits, paired tests, bootstrap intervals.
"""
