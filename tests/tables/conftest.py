"""A file to read."""

import pytest


@pytest.fixture
def csv(tmp_path):
    """Writes text to people.csv."""

    def write(text):
        path = tmp_path / "people.csv"
        path.write_bytes(text.encode())
        return path

    return write
