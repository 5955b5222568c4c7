// The archetypes that people are mixtures of, a sentence each, and what counts.

const SHOWN_ARCHETYPES = 5, TELLING = 4;

/** How far a value stands out among people: its place from 0 to 1 for numbers; for labels how rare it is. */
function standing(attribute, value) {
  if (attribute.codes) {
    const counts = new Map();
    for (const code of attribute.codes) counts.set(attribute.labels[code], (counts.get(attribute.labels[code]) ?? 0) + 1);
    const most = [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
    return value === most ? null : { extent: 0.5 - 0.5 * ((counts.get(value) ?? 0) / attribute.codes.length), words: `${attribute.name} ${value}` };
  }
  const known = attribute.values.filter((v) => v != null);
  if (typeof value !== "number" || !known.length) return null;
  const place = known.filter((v) => v < value).length / known.length + known.filter((v) => v === value).length / known.length / 2;
  if (Math.abs(place - 0.5) < 0.1) return null;
  return { extent: Math.abs(place - 0.5), words: `${place > 0.5 ? "high" : "low"} ${attribute.name} (${short(value, 3)})` };
}

function archetypeWords(people, now, row) {
  const { columns } = now.archetypes;
  const telling = people.attributes
    .filter((a) => (now.weights.find((w) => w.name === a.name)?.weight ?? 0) > 0)
    // The first two columns are the share and the followers, whatever attributes are called.
    .map((a) => standing(a, row[columns.indexOf(a.name, 2)])).filter(Boolean)
    .sort((a, b) => b.extent - a.extent).slice(0, TELLING).map((one) => one.words);
  return `${percent(row[0])} of everybody, and the largest part of ${many(row[1], "person", "people")} learned from: ${telling.length ? listed(telling) : "much like most people"}.`;
}

/** What consistent decisions do when people are decided about together; nothing for other points. */
function togetherWords(data, people, now) {
  if (!now.batch) return "";
  const reached = (test) => `${data.utility.name} ${num(test.utility.estimate)} and a consistency of ranks of ${num(test.ranks.estimate)}`;
  return `${pointName(now)} draws the scores of peers together. One at a time, as newcomers, these people get ${reached(now.test)}; decided about together, ${reached(now.batch)}.` +
    (now.changed ? ` Together, ${many(now.changed.length, "decision")} of ${count(people.ids.length)} ${now.changed.length === 1 ? "differs" : "differ"} from the plain model's.` : "");
}

/** Whom a point is for. */
function forWhom(now) {
  if (now.batch) return "It is for whoever decides about people themselves.";
  if (now.bound != null) return `It is for whoever hands the table on: whatever model is trained on it, yNN is at least ${num(now.bound)}.`;
  return "It is for whoever hands the table on to a linear model; nearest archetypes hold for every model.";
}

function showLearned(data, people, now) {
  const has = Boolean(now.archetypes);
  byId("learned-tables").hidden = !has;
  byId("archetypes").hidden = !has;
  if (!has) {
    const together = togetherWords(data, people, now);
    say("learned-words", together ? `${together} ${forWhom(now)}` : `${pointName(now)} has no archetypes to look at; points of iFair have.`);
    say("weights-words", "");
    return;
  }
  const { columns, rows } = now.archetypes, shown = rows.slice(0, SHOWN_ARCHETYPES);
  say("learned-words", togetherWords(data, people, now),
    `${pointName(now)} sees every person as ${now.bound == null ? "a mixture" : "the nearest"} of ${many(rows.length, "archetype")}.`,
    now.setting.K > rows.length ? `(K is ${now.setting.K}: nobody is near to the other ${now.setting.K - rows.length}.)` : "",
    forWhom(now),
    rows.length > shown.length ? `The ${shown.length} that stand for most people, by what sets them apart:` : "By what sets them apart:");
  fill("archetypes", shown.map((row) => el("li", {}, archetypeWords(people, now, row))));
  const most = now.weights.slice(0, 3).map((w) => `${quoted(w.name)} (${num(w.weight, 2)})`);
  const hidden = now.weights.filter((w) => data.data.protected.includes(w.name)).map((w) => `${quoted(w.name)} ${num(w.weight, 2)}`);
  say("weights-words", `In this representation, what counts most in who is near whom: ${listed(most)}.`, hidden.length ? `The weight of the protected: ${listed(hidden)}${now.blind ? ", held there on purpose" : ""}.` : "",
    now.converged === false ? "The search ended at its limit, before it had fully converged." : "");
  fill("archetype-table", table("Largest share first. Every row is the average of the people who have most of the archetype.", ["archetype", ...columns],
    rows.map((row, i) => [`${i + 1}`, percent(row[0], 1), ...row.slice(1).map((v) => short(v, 3))])));
  fill("weights", table("Largest first", ["attribute", "weight", ""], now.weights.map((w) => [w.name, num(w.weight), data.data.protected.includes(w.name) ? "protected" : ""])));
}
