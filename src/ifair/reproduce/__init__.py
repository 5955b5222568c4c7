"""The paper's evaluation, end to end: experiments, the runner, profiles, the paper's numbers and the page."""
