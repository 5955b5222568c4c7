"""Which modules are searched for examples."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for examples only where there are some.

    Whoever looks imports the module first, and leaves it out in silence if that needs a package which is not there. A
    module of tests would be left out with its tests.
    """
    found = yield
    if file_path.suffix == ".py" and ">>>" not in file_path.read_text(encoding="utf-8"):
        return [one for one in found if type(one) is pytest.Module]
    return found
