"""Text from a file or a table on somebody's terminal: shown, never obeyed."""


def make_printable(text: object, *, lines: bool = False) -> str:
    r"""The text with everything that a terminal would act on written out, as in ``\x1b``.

    Parameters
    ----------
    text : object
        What a stranger may have written: a column's name, a cell, an error that quotes them.
    lines : bool, default=False
        Keep line ends: for text of several lines that was put together here.

    Returns
    -------
    str

    Examples
    --------
    >>> print(make_printable("\x1b[31mage\n"))
    \x1b[31mage\n
    """
    kept = "\n" if lines else ""
    return "".join(c if c.isprintable() or c in kept else repr(c)[1:-1] for c in str(text))


def make_one_line(text: object) -> str:
    """What an error says, as one line that can be printed."""
    return make_printable(" ".join(str(text).splitlines()))
