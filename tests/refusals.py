"""What must be refused: a list of such cases reads line by line."""

import pytest


def must_raise(error, message, function, /, *arguments, **options):
    """Call what must raise an error whose message matches, and return the error."""
    __tracebackhide__ = True
    with pytest.raises(error, match=message) as caught:
        function(*arguments, **options)
    return caught.value
