"""scikit-learn estimators over the mathematics in :mod:`ifair.core`."""
