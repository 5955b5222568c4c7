"""What is known of every dataset: provenance, the paper's figures, ours, and why they differ."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Statistics:
    """The figures of a dataset: records, columns after encoding, share of the protected group, base rates.

    ``None`` where the paper prints nothing, or where there is no positive class.
    """

    rows: int
    columns: int
    share: float | None = None
    rate_protected: float | None = None
    rate_other: float | None = None
    queries: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """Facts about a dataset that need no file to be read.

    Attributes
    ----------
    title, description, licence, citation, source : str
        What it is, under which terms, whom to cite, where it comes from.
    task, outcome, group : str
        Classification or ranking; what the target says; who is protected in the paper's setting.
    reached : Statistics
        What the loader gives by default. The tests hold the loaders to it.
    paper : Statistics or None
        What the paper prints.
    counts_protected : bool
        Whether ``columns`` includes the protected attribute.
    deviations : tuple of str
        Why ours differ from the paper's.
    """

    title: str
    description: str
    licence: str
    citation: str
    source: str
    task: str
    outcome: str
    group: str
    reached: Statistics
    paper: Statistics
    counts_protected: bool = False
    deviations: tuple[str, ...] = ()

    @property
    def about(self) -> dict[str, Any]:
        """The four texts that every Dataset carries."""
        return {name: getattr(self, name) for name in ("description", "licence", "citation", "source")}


_UCI = "CC BY 4.0 (UCI Machine Learning Repository)"

CATALOGUE = {
    "compas": Entry(
        title="COMPAS",
        description="Defendants in Broward County, Florida, 2013-2014, and whether they were charged with a "
        "new crime within two years. Names, birth dates and case numbers of the file are not "
        "read.",
        licence="none stated by ProPublica, which published these public records for re-analysis",
        citation="Angwin, J., Larson, J., Mattu, S., Kirchner, L. (2016). Machine Bias. ProPublica. "
        "https://github.com/propublica/compas-analysis",
        source="https://github.com/propublica/compas-analysis",
        task="classification",
        outcome="charged again within two years",
        group="race is African-American",
        reached=Statistics(6900, 431, 3534 / 6900, 1869 / 3534, 1326 / 3366),
        paper=Statistics(6901, 431, None, 0.52, 0.40),
        deviations=(
            "One record short: the recipe (days between screening and arrest known, charge described) "
            "gives 6,900. A counted header line would explain the paper's 6,901; no plausible filter "
            "gives it.",
            "The base rates are 0.01 off. With the other group limited to Caucasians the second one is 0.403.",
            "The 431 columns leave race apart. recipe='race-inside' gives 431 too, two of them for race.",
        ),
    ),
    "census": Entry(
        title="Census Income",
        description="Adults of the United States in the census of 1994, and whether they earned more than "
        "50,000 dollars a year. Known as Adult.",
        licence=_UCI,
        citation="Becker, B., Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20",
        source="https://archive.ics.uci.edu/dataset/2/adult",
        task="classification",
        outcome="income over 50,000 dollars",
        group="sex is Female",
        reached=Statistics(48842, 101, 16192 / 48842, 1769 / 16192, 9918 / 32650),
        paper=Statistics(48842, 101, None, 0.12, 0.31),
        deviations=(
            "Both base rates are 0.01 below the paper's. No filter tried gives 0.12 and 0.31; complete "
            "records alone (45,222) give 0.114 and 0.312.",
            "The paper does not name its columns. Here unknown values are missing and get no column, sex "
            "is apart, sampling weight and years of education are left out; other choices give 101 as "
            "well.",
        ),
    ),
    "credit": Entry(
        title="German Credit",
        description="Applicants for a loan at a German bank, 1973-1975, and whether they were good or bad risks.",
        licence=_UCI,
        citation="Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository. "
        "doi:10.24432/C5NC77",
        source="https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data",
        task="classification",
        outcome="good risk",
        group="age from 25 to 34",
        reached=Statistics(1000, 67, 399 / 1000, 268 / 399, 432 / 601),
        paper=Statistics(1000, 67, None, 0.67, 0.72),
        counts_protected=True,
        deviations=(
            "All figures agree, but by a fitted rule: the paper names neither its columns nor its age "
            "limit, and protecting ages 25 to 34 is unusual. The usual rule, age_rule=(0, 25), gives "
            "0.579 and 0.728.",
            "The 67 columns include the age in ten-year bins; recipe='rate-codes' is another way to 67.",
            "The paper calls the outcome loan default; its base rates are those of good risks.",
        ),
    ),
    "airbnb": Entry(
        title="Airbnb",
        description="Listings of Boston, Denver, Jersey City, Seattle and Washington from Inside Airbnb, "
        "2015-2019, ranked by rating for the price. The host's name is used once, to infer the "
        "gender, and dropped.",
        licence="Inside Airbnb: CC0 1.0 for snapshots of that time, as projects that use them state",
        citation="Inside Airbnb, https://insideairbnb.com; first names: US Census Bureau (1990)",
        source="https://insideairbnb.com/get-the-data",
        task="ranking",
        outcome="rating / price",
        group="host_gender is female",
        reached=Statistics(10290, 33, 5247 / 10290, queries=275),
        paper=Statistics(27597, 33, queries=43),
        deviations=(
            "Other cities and days, hence another number of records: the paper's files of June 2018 were not found.",
            "The paper does not name its 22 attributes, so 33 columns were chosen, not found. "
            "recipe='four-cities' has 22 attributes and 33 columns, without Denver.",
            "Every city x neighbourhood x home type with at least 10 listings is a query here; the paper has 43.",
            "Gender comes from the first names of the Census of 1990, which know 74 % of the hosts. With "
            "the package nomquamgender installed, names_list='nomquamgender' gives 11,819 records and 284 "
            "queries.",
        ),
    ),
    "xing": Entry(
        title="Xing",
        description="Profiles that the German job portal Xing showed for 57 job searches in January 2017, in "
        "its order, with months of work and education and the number of profile views. Anonymised "
        "by its collectors.",
        licence="none stated; cite the paper below",
        citation="Zehlike, M., Bonchi, F., Castillo, C., Hajian, S., Megahed, M., Baeza-Yates, R. (2017). "
        "FA*IR: A Fair Top-k Ranking Algorithm. CIKM. https://github.com/MilkaLichtblau/xing_dataset",
        source="https://github.com/MilkaLichtblau/xing_dataset",
        task="ranking",
        outcome="weighted sum of work, education and profile views",
        group="sex is female",
        reached=Statistics(2237, 60, 767 / 2237, queries=57),
        paper=Statistics(2240, 59, queries=57),
        deviations=(
            "The paper speaks of 57 queries, but its 2,240 records, 59 columns and all its shares in the "
            "top 10 are those of 56. recipe='56-queries' leaves one out: 2,208 records, 59 columns. Which "
            "one is not known.",
            "2,237 profiles: 22 of the queries have fewer than 40, since the collectors removed duplicates.",
            "How the paper scales the three terms of the score is not said; its shares of women in the "
            "top 10 are not reproduced exactly by any scaling tried.",
        ),
    ),
    "synthetic": Entry(
        title="Synthetic",
        description="Points from two Gaussians in the plane, one for each outcome, and a binary protected "
        "attribute: at random, or by a threshold on one coordinate.",
        licence="generated, free of rights",
        citation="Lahoti, P., Gummadi, K. P., Weikum, G. (2019). iFair: Learning Individually Fair Data "
        "Representations for Algorithmic Decision Making. ICDE.",
        source="ifair.data.make_synthetic",
        task="classification",
        outcome="which Gaussian a point comes from",
        group="A is 1",
        reached=Statistics(100, 2, 30 / 100, 13 / 30, 37 / 70),
        paper=Statistics(100, 2),
        deviations=(
            "The paper gives neither the means nor the rule for the outcome: here the means are (2, 2) "
            "and (4, 4), on both sides of its threshold 3, and the outcome says which Gaussian a point "
            "comes from.",
            "The figures are those of the random variant with the default seed.",
        ),
    ),
}
