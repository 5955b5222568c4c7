// The sections that follow the chosen point.

/** How a card compares with the full data: a class for its colour, and a word. Nothing is praised without its caution. */
function verdict(data, now, value, before, up, sure, isUtility) {
  const better = value === before || !sure ? "" : (value > before) === up ? "better" : "worse";
  if (isUtility && atChance(data, now)) return ["worse", "not clearly better than chance"];
  if (better === "better" && cautionsOf(now).length) return ["", "better, but see the caution above"];
  return [better, better || (sure ? "the same" : "no clear difference")];
}

function showShort(data, now, was) {
  fill("cautions", cautionsOf(now).map((one) => el("p", { class: "caution" }, el("strong", {}, "Caution. "), one.text)));
  fill("cards", cardFacts(data, now, was).map(([what, value, before, write, up, sure = true], i) => {
    const [kind, word] = verdict(data, now, value, before, up, sure, i === 0);
    const said = now.id === was.id ? "the full data" : `before ${write(before)}: `;
    return el("div", { class: "card" }, el("div", { class: "what" }, what), el("div", { class: "value" }, write(value)),
      el("div", { class: "was" }, said, now.id === was.id ? null : el("span", { class: kind || null }, word)));
  }));
  fill("buys", buyWords(data, now, was).map((said) => el("li", {}, said)));
  fill("costs", costWords(data, now, was).map((said) => el("li", {}, said)));
}

/** One archetype: its share, and the attributes that count most. */
function archetypeCard(data, now, columns, row, i) {
  const telling = now.weights.filter((w) => !data.data.protected.includes(w.name)).slice(0, TELLING);
  // The first two columns are the share and the followers, whatever attributes are called.
  const value = (name) => short(row[columns.indexOf(name, 2)]);
  return el("div", { class: "card" }, el("div", { class: "what" }, `Archetype ${i + 1}: ${count(row[1])} training people have most of it`),
    el("div", { class: "value" }, percent(row[0], 1)),
    el("dl", {}, telling.map((w) => el("div", {}, el("dt", {}, w.name), el("dd", {}, value(w.name))))));
}

const TELLING = 6;

async function showLearned(data, now) {
  byId("learned-body").hidden = !now.archetypes;
  if (!now.archetypes) {
    byId("learned-words").textContent = `${now.name} has neither archetypes nor weights to look at; choose a point of iFair.`;
    return;
  }
  const { columns, rows } = now.archetypes;
  const hidden = now.weights.filter((w) => data.data.protected.includes(w.name));
  const weights = listed(hidden.map((w) => `${num(w.weight, 2)} for “${w.name}”`));
  byId("learned-words").textContent =
    `Every person is represented as a mixture of ${now.setting.K} archetypes. A row is the average of the people who have most of one; its share is its part in everybody. ` +
    `The weight of protected attributes is ${weights}${now.blind ? ", held there on purpose" : ""}.` +
    (now.converged === false ? " The search ended at its limit, before it had fully converged." : "");
  fill("archetype-cards", rows.map((row, i) => archetypeCard(data, now, columns, row, i)));
  const shown = rows.map((row, i) => [`${i + 1}`, percent(row[0], 1), ...row.slice(1).map(short)]);
  fill("archetypes", table("Largest share first", ["archetype", ...columns], shown));
  fill("weights", table("Largest first", ["attribute", "weight", ""], now.weights.map((w) => [w.name, num(w.weight), data.data.protected.includes(w.name) ? "protected" : ""])));
  await drawWeights(data, now);
}

function groupTable(data, g, before) {
  const rate = (value) => (isClassification(data) ? percent(value, 1) : num(value));
  const within = (group, key) => {
    const ends = group[`${key}_interval`];
    if (group[key] == null || !ends) return rate(group[key]);
    return `${rate(group[key])} (${ends.map((end) => (isClassification(data) ? num(100 * end, 0) : num(end))).join(" to ")})`.replace(" to ", "\u00a0to\u00a0");
  };
  const head = ["group", "people", `true mean of “${data.data.target}”`, isClassification(data) ? "positive decisions before" : "mean score before", "after"];
  if (isClassification(data)) head.push("of the truly positive, before", "after");
  if (data.task === "ranking") head.push("share of people", "share of the first ten, before", "after");
  const rows = g.groups.map((group, i) => {
    const was = before?.groups[i] ?? {};
    const row = [group.n < 10 ? `${group.label} (few people)` : group.label, count(group.n), rate(group.base), within(was, "rate"), within(group, "rate")];
    if (isClassification(data)) row.push(within(was, "tpr"), within(group, "tpr"));
    if (data.task === "ranking") row.push(percent(group.share, 1), percent(was.top, 1), percent(group.top, 1));
    return row;
  });
  return el("div", {}, el("h3", {}, g.partition), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": g.partition }, table("Before: full data. After: the chosen point. In brackets 95 % intervals.", head, rows)));
}

async function showGroups(data, now, was) {
  const words = [groupWords(data, now, was)];
  const gap = (p) => mainGroups(p)?.opportunity;
  if (gap(now) != null) words.push(`Among the truly positive the difference is ${num(100 * gap(now), 1)} percentage points; with the full data ${num(100 * gap(was), 1)}.`);
  words.push("iFair aims at individuals, not at equal rates of groups: this is what follows for groups.");
  byId("groups-words").textContent = words.join(" ");
  byId("groups-chart").parentElement.hidden = now.groups.length === 0;
  fill("groups-tables", now.groups.map((g, i) => groupTable(data, g, was.groups[i])));
  if (now.groups.length) await drawGroups(data, now, was);
}

function showLeak(data, now, was) {
  byId("leak-words").textContent = leakWords(now, was) + " Whoever can guess the group can also treat it differently; other columns that go with the protected ones give it away.";
  const rows = data.points.flatMap((p) => p.adversary.map((a) => [p.name, a.partition, num(a.auc), percent(a.accuracy, 1), percent(a.majority, 1),
    `${a.interval_of === "auc" ? "AUC" : "accuracy"} ${range(a)}`, p.id]));
  fill("leak-table", table("Logistic regression, on people it has not seen. An AUC below 0.5 tells as much as one above it, so the larger of AUC and 1 − AUC is shown. Accuracy means little unless it beats naming the largest group every time.",
    ["point", "guessed", "AUC", "accuracy", "largest group", "95 % interval"], rows.map((row) => row.slice(0, 6)), (i) => rows[i][6] === now.id));
}

function showCertificate(data, now) {
  const one = now.certificate;
  byId("certificate-words").textContent = one.epsilon == null
    ? `${count(one.pairs)} pairs of people are too few for a certificate.`
    : `With ${percent(one.confidence)} confidence, for at most ${percent(one.share)} of pairs of people like these the distance between their representations differs by more than ${num(one.epsilon, 2)} ` +
      `from their distance on what may count (two people are ${num(one.typical_distance, 2)} apart on average). From ${count(one.pairs)} pairs of test people. ` +
      (one.epsilon >= one.typical_distance ? "That is no less than two people are apart: a statement without force. " : "") +
      "Deleting columns keeps distances exactly and says nothing about what a model makes of them; read it together with yNN.";
  fill("certificate-table", table("Smaller is closer to Definition 1 of the paper", ["point", "epsilon", "share of exceptions", "mean gap"],
    data.points.map((p) => [p.name, num(p.certificate.epsilon, 2), percent(p.certificate.share), num(p.certificate.mean, 2)]), (i) => data.points[i].id === now.id));
}

function showData(data) {
  const about = data.data, { settings, versions } = data;
  byId("data-words").textContent = [
    about.description, about.source && `Source: ${about.source}.`, about.licence && `Licence: ${about.licence}.`,
    `The protected group is ${percent(about.group_share, 1)} of all; the mean of “${about.target}” is ${num(about.base_protected)} there and ${num(about.base_others)} among the others.`,
    ...data.left_out.map((one) => `${one.name} was left out: ${one.why}.`),
  ].filter(Boolean).map((said) => said.replace(/([^.:?!])$/, "$1.")).join(" ");
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
