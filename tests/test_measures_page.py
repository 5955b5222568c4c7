"""Every value on the page about measures is what the code gives."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "measures.md"
DECIMAL = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


class ToThePrintedDigits(doctest.OutputChecker):
    """Numbers need to agree to as many decimals as the page prints."""

    def check_output(self, want, got, optionflags):
        decimals = [len(number.partition(".")[2]) for number in DECIMAL.findall(want)]
        if len(decimals) == len(DECIMAL.findall(got)):
            digits = iter(decimals)
            got = DECIMAL.sub(lambda found: f"{float(found[0]):.{next(digits)}f}", got)
        return super().check_output(want, got, optionflags)


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not part of this distribution")
def test_the_examples_on_the_page_about_measures_hold():
    text = PAGE.read_text(encoding="utf-8").replace("```", "   ")  # a fence is no output
    page = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    problems = []
    runner = doctest.DocTestRunner(ToThePrintedDigits(), optionflags=doctest.ELLIPSIS)
    runner.run(page, out=problems.append)
    assert len(page.examples) > 40
    assert not problems, "".join(problems)
