"""The model card of a point: what it is for, what it was made of, how it does, and where it ends."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ifair.report.blocks import Block, Bullets, Heading, Line, Strong, Table, Text
from ifair.report.comparison import (
    ROLES,
    describe_judged,
    find_point,
    find_references,
    measure_text,
    name_outcome,
    tabulate_comparison,
)
from ifair.report.terminal import parity_words
from ifair.results import EVIDENCE, Evidence, Point, check_results, with_ends


def card(evidence: Evidence, choice: str = "balanced") -> list[Block]:
    """The card, to be written as Markdown (``ifair.report.blocks.markdown``) or HTML (``ifair.report.html``).

    The choice is one of those that the evidence names, the letter of a point, or its id.
    """
    check_results(evidence, EVIDENCE)
    point = find_point(evidence, choice)
    return [
        Heading(f"Model card: {point['name']} on {evidence['data']['name']}", 1),
        *_details(evidence, point),
        *_use(evidence, point),
        *_data(evidence, point),
        *_measures(evidence, point),
        *_limits(evidence, point),
    ]


def _details(evidence: Evidence, point: Point) -> list[Block]:
    """Everything that makes the model what it is: with these rows it can be fitted again."""
    settings, versions = evidence["settings"], evidence["versions"]
    candidate = point["candidate"]
    rows: list[Sequence[Line]] = [["what", "value"], ["called", f"{point.get('label', '')} {point['name']}".strip()]]
    seen = UNREPRESENTED.get(point["family"])
    what = ["representation", candidate["method"]] if seen is None else ["the model sees", seen]
    rows += [what, *_setting(candidate["setting"])]
    rows.append(["model trained on it" if seen is None else "model", candidate["model"]])
    rows += [[f"after the model: {name}", str(value)] for name, value in (candidate["post"] or {}).items()]
    if point["threshold"] is not None:
        rows.append([f"predicted {name_outcome(evidence)} above a score of", f"{point['threshold']:g}"])
    rows += [*_similarity(settings.get("similarity", {})), ["seed", str(settings["seed"])]]
    rows += [[f"solver {name}", str(value)] for name, value in settings["solver"].items()]
    rows += [[f"version of {name}", value] for name, value in versions.items()]
    return [Heading("Model"), Table(rows)]


UNREPRESENTED = {"full": "all columns", "masked": "the unprotected columns", "existing": "what is not known here"}
"""Families of points without a representation, and what their models see."""

PROTECTED_WEIGHTS = {
    "frozen": "held at zero: the representation cannot look at them",
    "paper": "begun near zero and learned, as in the paper's iFair-b",
}


def _setting(setting: Mapping[str, Any]) -> list[Sequence[Line]]:
    """A setting in words."""
    words: dict[str, tuple[str, Callable[[Any], str]]] = {
        "K": ("prototypes K", str),
        "C": ("penalty: C of the model, the smaller the stronger", str),
        "variant": ("weights of protected attributes", lambda variant: PROTECTED_WEIGHTS.get(variant, str(variant))),
        "output": ("what the model sees", lambda output: f"{output} of the prototypes"),
    }
    rest = dict(setting)
    rows: list[Sequence[Line]] = []
    if "share" in rest:
        share = rest.pop("share")
        rest.setdefault("variant", "frozen")
        rows = [
            ["weight λ of utility, of staying close to the records", f"{1 - share:.3g}"],
            ["weight μ of fairness, of keeping alike who is alike in what may count (λ + μ = 1)", f"{share:.3g}"],
        ]
    for name, value in rest.items():
        what, write = words.get(name, (name, str))
        rows.append([what, write(value)])
    return rows


def _similarity(similarity: Mapping[str, Any]) -> list[Sequence[Line]]:
    """Who is like whom."""
    learned = similarity.get("learned") or {}
    if not learned:
        return [["who is like whom", "distances of encoded columns, as in the paper"]] if similarity else []
    weights = similarity.get("weights") or {}
    named = [f"{name} ({weights[name]:g})" if name in weights else name for name in learned["attributes"]]
    rows: list[Sequence[Line]] = [["who is like whom: alike in", ", ".join(named)]]
    if learned.get("caliper") is not None:
        rows.append(["peers are at most so far apart", f"{learned['caliper']:.3g}"])
    return rows


def _use(evidence: Evidence, point: Point) -> list[Block]:
    about = evidence["data"]
    hidden = ", ".join(about["protected"])
    people = f"people like those of {about['name']}"
    if point["family"] in UNREPRESENTED:
        verb = {"classification": f"decide about {about['target']} for", "regression": "score", "ranking": "rank"}
        purpose = f"To {verb[evidence['task']]} {people}"
        purpose += "" if evidence["task"] == "classification" else f" by {about['target']}"
    else:
        verb = {"classification": "decides about", "regression": "scores people by", "ranking": "ranks people by"}
        purpose = f"To represent {people} before a model {verb[evidence['task']]} {about['target']}"
    if "batch" in point or point["family"] not in UNREPRESENTED:
        purpose += ", so that people who are alike in what may count are treated alike"
    sees = (
        f"It cannot see {hidden}: changing only that changes nothing, by construction."
        if point["blind"]
        else f"It can still see {hidden}; how much that matters was measured, see below."
    )
    if point["family"] == "existing":
        sees = f"Whether it can see {hidden} is not known here."
    return [
        Heading("Intended use"),
        Bullets(
            [
                f"{purpose}.",
                _name_user(point),
                sees,
                "Not for other people, other outcomes or later years without auditing again; not as a proof of equal "
                "rates of groups; not to decide without a person who answers for it.",
            ]
        ),
    ]


def _name_user(point: Point) -> str:
    """Whom a point is for."""
    if "batch" in point:
        return "For whoever decides about people themselves: one at a time, or a whole batch at once."
    if point.get("bound") is not None:
        return (
            "For whoever hands the table on: everybody is shown as the nearest prototype, whatever model comes after."
        )
    if point["family"] == "existing":
        return "It is in use already, and judged by what it said."
    if point["family"] in UNREPRESENTED:
        return "For whoever decides about people one at a time: nothing makes the scores of like people alike."
    return "For whoever trains the next model on it: what that model makes of it must be audited with it."


def _data(evidence: Evidence, point: Point) -> list[Block]:
    about = evidence["data"]
    parts, share = about["parts"], about["group_share"]
    whose = f", everybody whose {about['group']}" if "group" in about else ""
    once = ", ".join(about.get("counted_once", []))
    by, unknown = about.get("weighted_by"), about.get("unknown_others", 0)
    lines: list[Line] = [
        line
        for line in (
            about["description"],
            f"Source: {about['source'] or about['name']}",
            f"Licence: {about['licence']}" if about["licence"] else "",
            f"{about['records']:,} records: {parts['train']:,} to learn on, {parts['validation']:,} to choose "
            f"settings on, {parts['test']:,} to judge on.",
            f"Protected attributes: {', '.join(about['protected'])}.",
            "" if by is None else f"People are weighted by {by}, in models and measures; they count once in: {once}.",
            end_sentence(parity_words(evidence, point)),
            "" if share is None else f"{share:.1%} of people are in the protected group{whose}.",
            f"Of {unknown:,} that is not known, for lack of a protected value: counted among the others."
            if unknown
            else "",
        )
        if line
    ]
    missing = [f"{column['name']} ({column['missing']})" for column in about["columns"] if column["missing"]]
    if missing:
        lines.append(f"Missing values: {', '.join(missing)}.")
    return [Heading("Data"), Bullets(lines)]


def end_sentence(words: str) -> str:
    """With a capital letter and a full stop, and nothing else changed: what is quoted stays as it is."""
    return f"{words[0].upper()}{words[1:]}." if words else ""


def _measures(evidence: Evidence, point: Point) -> list[Block]:
    blocks: list[Block] = [Heading("Measures")]
    verdict = point.get("verdict")
    if verdict:
        blocks += [Text((Strong(verdict["sentence"]), f" {verdict['rule']}"))]
    cautions = [*point.get("cautions", []), *(verdict.get("besides", []) if verdict else [])]
    # Where the verdict is not to use it, it says why.
    said = [one["text"] for one in cautions if not (verdict and one["text"][1:] in verdict["sentence"])]
    if said:
        blocks += [Heading("Caution", 3), Bullets(said)]
    blocks += [
        Text(f"On {describe_judged(evidence)}. Brackets are 95 % intervals."),
        Table(tabulate_comparison(evidence, point)),
    ]
    if (bound := point.get("bound")) is not None:
        blocks.append(
            Text(f"Whatever model is trained on these prototypes, yNN of these people is at least {bound:.3f}.")
        )
    one = point["certificate"]
    if one["epsilon"] is not None:
        words = (
            f"Certificate: with {one['confidence']:.0%} confidence at most {one['share']:.0%} of pairs of people "
            f"exceed epsilon = {one['epsilon']:.3g}; two people are {one['typical_distance']:.3g} apart on average."
        )
        blocks.append(Text(words))
    references = find_references(evidence, point)
    named = [*((ROLES[role], one) for role, one in references.items() if role != "penalised"), ("this one", point)]
    for partition in point["groups"]:
        rows = [["group", "people", "true mean", *(name for name, _ in named)]]
        for i, group in enumerate(partition["groups"]):
            found = [_find_group(one, partition["partition"], i) for _, one in named]
            rows.append([group["label"], str(group["n"]), measure_text(with_ends(group["base"])), *found])
        blocks += [Heading(f"Mean outcomes by {partition['partition']}", 3), Table(rows)]
    return blocks


def _find_group(point: Point, partition: str, i: int) -> str:
    """The rate of a group with its interval."""
    groups = next((one["groups"] for one in point["groups"] if one["partition"] == partition), [])
    if i >= len(groups):
        return "-"
    return measure_text(with_ends(groups[i]["rate"], groups[i].get("rate_interval")))


def _limits(evidence: Evidence, point: Point) -> list[Block]:
    lines: list[Line] = [
        "One random split: intervals cover the choice of people to judge on, not the luck of the split.",
        "The outcomes of the past are taken for the truth; where they are unfair, so is what is called useful here.",
        "Which attributes may count, and how much they make people alike, was decided by whoever chose the columns.",
        *(one["text"] for one in evidence.get("cautions", [])),
    ]
    told = "What the model sees still tells" if point["family"] in UNREPRESENTED else "The representation still tells"
    told = "Its scores tell" if point["family"] == "existing" else told
    leaks = [one for one in point["adversary"] if one["auc"] is not None and one["auc"] > 0.6]
    lines += [
        f"{told} {one['partition']}: an adversary's AUC is {one['auc']:.2f} (a guess: 0.5)"
        + (", from the opposite of its guesses." if one.get("reversed") else ".")
        for one in leaks
    ]
    small = [f"{g['label']} ({g['n']})" for part in point["groups"] for g in part["groups"] if g["n"] < 30]
    if small:
        lines.append(f"Groups too small for firm words: {', '.join(small)}.")
    if not evidence["settings"]["tuned"]:
        lines.append("Settings come from a small grid; no search was made for better ones.")
    if point.get("converged") is False:
        lines.append("The search for the representation ended at its limit, before it had fully converged.")
    return [Heading("Limits"), Bullets(lines)]
