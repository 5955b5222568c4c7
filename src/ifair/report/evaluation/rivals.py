"""The part of the page about outside rivals, next to the paper's methods as far as those were run."""

from collections.abc import Iterator, Mapping
from typing import Any

from ifair.report.blocks import Block, Bullets, Code, Heading, Line, Number, Strong, Table, Text, signed
from ifair.report.evaluation import names

NAMES = {"sensei": "SenSeI", "correlation-remover": "CorrelationRemover"}
BESIDE = ("full", "masked", "svd-masked", "ifair-b", "ifair-frozen")
"""The methods of this library that stand beside the rivals."""

CLASSIFIED = ("AUC", "AUC of scores", "yNN", "EqOpp", "Parity")
RANKED = ("MAP", "KT", "yNN", "% protected")
ABOUT = """
Beyond the paper: inFairness's SenSeI (an individually fair classifier, not a representation; linear, or with one hidden
layer of 100 units, chosen on validation like its weight of fairness) and fairlearn's CorrelationRemover (protected
columns and what is linear in them taken out, then logistic or linear regression). Splits, encoding, measures and rules
of choice are those of the other methods. The adversary's AUC is how well a logistic regression, and after the slash
gradient-boosted trees, tell the group from a representation: 0.5 is chance, and far below it the group is told, too,
only the other way round; SenSeI has no representation to attack. What the CorrelationRemover leaves of a column of two
values is another pair of values in each group: nothing to a linear model, but trees can read the group off it.
""".strip()


def section(results: Mapping[str, Any]) -> list[Block]:
    """The rivals beside our methods; nothing where the experiment was not run."""
    found = results.get("rivals") or {}
    if not any(found.values()):
        return []
    missing = [
        Text((f"{NAMES[rival]} was left out: ", Code(hint), ".")) for rival, hint in found.get("left out", {}).items()
    ]
    blocks: list[Block] = [Heading("Outside rivals"), Text(ABOUT), *missing, *_sentences(results)]
    for task, measures in (("classification", CLASSIFIED), ("ranking", RANKED)):
        for dataset, one in found.get(task, {}).items():
            ours = (results.get(task) or {}).get(dataset, {}).get("rules", {})
            blocks += [
                Heading(names.dataset(dataset), 3),
                Table(list(_rows(one["rules"], ours, _told(results, dataset), measures))),
            ]
    return blocks


def _told(results: Mapping[str, Any], dataset: str) -> dict[str, dict[str, Any]]:
    """The adversaries' AUC on our methods, by method, which are measured at the setting of the rule "optimal"."""
    attacked = (results.get("obfuscation") or {}).get(dataset, {})
    return {
        method: {name: found[name]["AUC"] for name in ("logistic", "boosting") if name in found}
        for method, found in attacked.items()
    }


def _rows(
    rules: Mapping[str, Any], ours: Mapping[str, Any], told: Mapping[str, Any], measures: tuple[str, ...]
) -> Iterator[list[Line]]:
    yield ["rule", "method", *measures, "adversary's AUC"]
    for rule, rivals in rules.items():
        beside = {name: ours[rule][name] for name in BESIDE if name in ours.get(rule, {})}
        for name, one in {**beside, **rivals}.items():
            attacks = one.get("adversaries") or (told.get(name, {}) if rule == "optimal" else {})
            adversary = " / ".join(f"{auc['mean']:.2f}" for auc in attacks.values())
            cells = [Number.of(one["test"][m], digits=1 if m.startswith("%") else 2) for m in measures]
            yield [rule, NAMES.get(name) or names.method(name), *cells, adversary]


def _sentences(results: Mapping[str, Any]) -> list[Block]:
    """iFair-b against each rival in numbers, where both are there."""
    lines: list[Line] = []
    for dataset, one in results["rivals"].get("classification", {}).items():
        ours = (results.get("classification") or {}).get(dataset, {}).get("rules", {}).get("optimal", {}).get("ifair-b")
        if ours is None:
            continue
        for rival, theirs in one["rules"]["optimal"].items():
            gap = {m: ours["test"][m]["mean"] - theirs["test"][m]["mean"] for m in ("AUC", "yNN")}
            lines.append(
                (
                    Strong(names.dataset(dataset)),
                    f", best harmonic mean: iFair-b less {NAMES[rival]} is {signed(gap['AUC'])} in AUC and "
                    f"{signed(gap['yNN'])} in yNN; {_verdict(gap['AUC'], gap['yNN'])}.",
                )
            )
    return [Bullets(lines)] if lines else []


def _verdict(utility: float, fairness: float) -> str:
    """Who is ahead in the means; differences below half a hundredth are none."""
    signs = {1 if gap > 0.005 else -1 if gap < -0.005 else 0 for gap in (utility, fairness)}
    if signs == {0}:
        return "they are level"
    if -1 not in signs:
        return "iFair-b is ahead"
    return "a trade" if 1 in signs else "the rival is ahead"
