"""Write the model file of this release, which later releases must read: ``python tests/persist/files/make.py``.

The file of a format is written once, by the first release that has it, and then kept.
"""

import json
from pathlib import Path

import ifair
from ifair.persist.manifest import FORMAT

HERE = Path(__file__).parent


def main() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline

    from ifair.data import load_credit

    credit = load_credit()
    steps = [
        ("encode", ifair.Encoder()),
        ("fair", ifair.IFair(5, protected=list(credit.protected), random_state=0)),
        ("decide", LogisticRegression(max_iter=1000)),
    ]
    model = Pipeline(steps).fit(credit.frame, credit.target)
    ifair.save(model, HERE / f"format{FORMAT}.ifair", about={"data": "German Credit"})
    sample = credit.frame.iloc[::40]
    expected = {
        "records": json.loads(sample.astype(object).to_json(orient="records")),
        "probabilities": model.predict_proba(sample)[:, 1].tolist(),
        "representation": model[:-1].transform(sample).tolist(),
    }
    (HERE / f"format{FORMAT}.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
