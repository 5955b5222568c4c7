"""A file to read."""

import pytest


@pytest.fixture
def csv(tmp_path):
    """Writes text to people.csv."""

    def write(text, encoding="utf-8"):
        path = tmp_path / "people.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return write
