// What a reader may want to check: the adversary, the certificate, data and settings.

/** The point shown and what it is compared with first, then the others folded away. */
function withOthersFolded(data, now, make) {
  const main = ["full", "deleted", "penalised"].map((role) => roleOf(data, role)).filter((p) => p && p.id !== now.id);
  const others = data.points.filter((p) => p !== now && !main.includes(p));
  const shown = [now, ...main];
  return [make(shown), others.length ? el("details", {}, el("summary", {}, `${many(others.length, "other point")}`), make(others)) : null];
}

function showLeak(data, now) {
  const one = now.adversary[0];
  say("leak-words", one
    ? `Somebody who sees only what the model sees guesses ${quoted(one.partition)} with an AUC of ${num(one.auc, 2)} (0.5 is a guess, 1 is certainty).${one.reversed ? " The guesses were wrong more often than right, which tells as much: the AUC is that of their opposite." : ""} Other columns that go with the protected ones give them away.`
    : "The protected group is too small to be guessed at.");
  fill("leak-table", withOthersFolded(data, now, (points) => table(`Logistic regression${one?.people ? `, ${count(one.people)} people` : ""}, each guessed by one that has not seen them. Accuracy means little unless it beats naming the largest group every time.`,
    ["point", "guessed", "AUC", "accuracy", "largest group"],
    points.flatMap((p) => p.adversary.map((a) => [el("span", {}, key(p.role), pointName(p)), partitionWords(data, a.partition),
      a.interval_of === "auc" ? withRange(num(a.auc, 2), a.low, a.high, writeNumber(2)) : num(a.auc, 2), percent(a.accuracy, 1), percent(a.majority, 1)])))));
}

const OTHER_PEERS = { k5: "5 peers", k20: "20 peers", mahalanobis: "Mahalanobis distance" };

/** Nobody is graded only by the peers that they were fitted to. */
function showOtherPeers(data, now) {
  const ways = Object.keys(OTHER_PEERS).filter((way) => data.points.some((p) => p.graders?.[way]?.ranks != null));
  byId("other-peers").hidden = !ways.length;
  fill("other-peers-table", withOthersFolded(data, now, (points) => table("Consistency of ranks: 0 by chance, 1 at best", ["point", "peers of this page", ...ways.map((way) => OTHER_PEERS[way])],
    points.map((p) => [el("span", {}, key(p.role), pointName(p)), num(p.test.ranks?.estimate), ...ways.map((way) => num(p.graders?.[way]?.ranks))]))));
}

function showCertificate(data, now) {
  const one = now.certificate;
  say("certificate-words", one.epsilon == null
    ? `${many(one.pairs, "pair")} of people are too few for a certificate.`
    : `With ${percent(one.confidence)} confidence, for at most ${percent(one.share)} of pairs of people like these the distance between what the model sees of them differs by more than ${num(one.epsilon, 2)} from their distance on what may count (two people are ${num(one.typical_distance, 2)} apart on average).`,
  one.epsilon != null && one.epsilon >= one.typical_distance ? "That is no less than two people are apart: a statement without force." : "",
  "Deleting columns keeps distances well and says nothing about what a model makes of them.");
  fill("certificate-table", withOthersFolded(data, now, (points) => table("Smaller is closer to Definition 1 of the paper", ["point", "epsilon", "share of exceptions", "mean gap", "pairs"],
    points.map((p) => [el("span", {}, key(p.role), pointName(p)), num(p.certificate.epsilon, 2), percent(p.certificate.share), num(p.certificate.mean, 2), count(p.certificate.pairs)]))));
}

function showData(data) {
  const about = data.data, { settings, versions } = data, compared = [...comparedAttributes(data).keys()];
  const sentences = [
    about.description, about.source && `Source: ${about.source}`, about.licence && `Licence: ${about.licence}`,
    `${percent(about.group_share, 1)} are in the protected group${about.group ? ` (${about.group})` : ""}; ${isClassification(data) ? `${truthWords(data, 1)} for ${percent(about.base_protected, 1)} of them and for ${percent(about.base_others, 1)} of the others` : `the mean of ${quoted(about.target)} is ${num(about.base_protected)} there and ${num(about.base_others)} among the others`}`,
    about.weighted_by && `People are weighted by ${quoted(about.weighted_by)} in models and measures; they count once in ${listed(about.counted_once ?? [])}`,
    compared.length && `Who is like whom was measured on ${listed(compared.map(quoted))}; peers are at most ${short(reachOf(data), 3)} apart`,
    settingsWords(data),
    ...data.left_out.map((one) => `${one.name} was left out: ${one.why}`),
  ].filter(Boolean);
  say("data-words", sentences.map((said) => said.replace(/([^.:?!])$/, "$1.")));
  fill("data-columns", table("Columns", ["column", "kind", "values", "missing", ""], about.columns.map((c) => [c.name, c.kind, count(c.values), count(c.missing), c.protected ? "protected" : ""])));
  const facts = [
    ["train / validation / test", Object.values(about.parts).map(count).join(" / ")],
    ["seed", String(settings.seed)], ["model", settings.model], ["neighbours", String(settings.neighbours)],
    ["bootstrap resamples", count(settings.resamples)],
    ...Object.entries(settings.solver).map(([name, value]) => [`solver: ${name}`, String(value)]),
    ...Object.entries(versions),
  ];
  fill("data-settings", table("Settings and versions", ["what", "value"], facts));
}
