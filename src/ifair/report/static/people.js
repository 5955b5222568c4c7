// The people: finding one, what is decided about them, who their peers are and why, and what would change it.

const MATCHES = 12, WORST = 5;

/** The people's table, inflated. */
async function unpackPeople() {
  const bytes = Uint8Array.from(atob(byId("people-data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const valueOf = (attribute, i) => (attribute.codes ? attribute.labels[attribute.codes[i]] : short(attribute.values[i]));
const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;

/** Everybody within reach of a person: number and distance. */
const peersOf = (people, i) => people.neighbours[i].map((j, n) => [j, people.distances[i][n]]).filter(([j]) => j >= 0);

/** Whether a row's value of an attribute holds what was typed; labels are looked at once, not for everybody. */
function attributeTest(attribute, wanted) {
  if (!attribute.codes) return (i) => String(attribute.values[i] ?? "(missing)").includes(wanted);
  const hits = attribute.labels.map((label) => label.toLowerCase().includes(wanted));
  return (i) => hits[attribute.codes[i]];
}

/** Rows that fit what was typed: the id itself, ids that begin with it, then anything known of a person. */
function findPeople(people, typed) {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return [];
  const ids = people.ids.map((id) => id.toLowerCase());
  const fits = people.attributes.map((a) => attributeTest(a, wanted));
  const exact = [], starts = [], known = [];
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] === wanted) exact.push(i);
    else if (ids[i].startsWith(wanted)) starts.push(i);
    else if (fits.some((test) => test(i))) known.push(i);
  }
  return [...exact, ...starts, ...known];
}

/** What was decided, in one line if that is short. */
const decisionCell = (data, p, score) => el("span", { class: decided(data, p, score).length < 24 ? "line" : null }, decided(data, p, score));

const personButton = (people, i, show) => el("button", { type: "button", class: "link", onclick: () => show(i, true) }, people.ids[i]);

/** How attributes count in who is like whom, by name: in which unit, and with what weight. */
function comparedAttributes(data) {
  const { learned, weights } = data.settings.similarity ?? {};
  const given = new Map(Object.entries(weights ?? {}));
  return new Map((learned?.units ?? []).map((one) => [one.name, { unit: one.size, weight: given.get(one.name) ?? 1 }]));
}

const reachOf = (data) => data.settings.similarity?.learned?.caliper;

/** How two people differ in an attribute: how much it counts, and words; null where they do not. */
function differenceWords(attribute, compared, i, j) {
  const name = attribute.name, weight = compared?.weight ?? 1;
  if (attribute.codes) {
    if (attribute.codes[i] === attribute.codes[j]) return null;
    return { counts: weight, words: `${name} ${valueOf(attribute, j)}` };
  }
  const [a, b] = [attribute.values[i], attribute.values[j]];
  if (a === b) return null;
  if (a == null || b == null) return { counts: 0.5 * weight, words: b == null ? `${name} not known` : `${name} ${short(b)}, where this person's is not known` };
  return { counts: (weight * Math.abs(b - a)) / (compared?.unit || Math.abs(a) || 1), words: `${name} ${short(Math.abs(b - a), 3)} ${b > a ? "more" : "less"}` };
}

/** Two peers: what is the same, and in what the other differs, by how much it counts. */
function peerWords(data, people, i, j, most = 3) {
  const compared = comparedAttributes(data);
  const counted = people.attributes.filter((a) => !data.data.protected.includes(a.name) && (!compared.size || compared.has(a.name)));
  const differing = [], same = [];
  for (const a of counted) {
    const found = differenceWords(a, compared.get(a.name), i, j);
    if (found) differing.push(found); else same.push(a.name);
  }
  differing.sort((a, b) => b.counts - a.counts);
  const rest = (names) => (names.length > most ? [...names.slice(0, most), `${names.length - most} more`] : names);
  const alike = same.length === counted.length ? "the same in everything that may count" : same.length ? `same ${listed(rest(same))}` : "";
  const apart = differing.length ? `differs in: ${rest(differing.map((one) => one.words)).join("; ")}` : "";
  return [alike, apart].filter(Boolean).join("; ");
}

/** What every model in question decides about somebody, and about the peers. */
function outcomeTable(data, people, i, points) {
  const peers = peersOf(people, i).map(([j]) => j);
  const rows = points.map((p) => {
    const scores = people.points[p.id].score;
    const alike = !peers.length ? "–" : isClassification(data)
      ? `${peers.filter((j) => isPositive(p, scores[j])).length} of ${peers.length}`
      : num(mean(peers.map((j) => scores[j])));
    return [el("span", {}, key(p.role), pointName(p)), ...(isClassification(data) ? [decisionCell(data, p, scores[i])] : []), num(scores[i]), alike];
  });
  return table(`What truly happened: ${truthWords(data, people.truth[i])}.`,
    ["", ...(isClassification(data) ? ["decision"] : []), "score", isClassification(data) ? `peers predicted ${outcomeName(data)}` : "mean of the peers"], rows);
}

/** What would have to be different for another decision. */
function otherwise(data, people, i, now, show) {
  const scores = people.points[now.id].score, lines = [];
  if (isClassification(data)) {
    const short_of = thresholdOf(now) - scores[i], is = isPositive(now, scores[i]);
    lines.push(`The score is ${num(scores[i])}, and ${num(thresholdOf(now), 2)} decides: ${num(Math.abs(short_of))} ${is ? "less" : "more"} and the decision would be ${is ? otherName(data) : outcomeName(data)}.`);
    const other = peersOf(people, i).find(([j]) => isPositive(now, scores[j]) !== is);
    lines.push(other
      ? el("span", {}, "The nearest peer decided otherwise is ", personButton(people, other[0], show), `: ${peerWords(data, people, i, other[0])}.`)
      : peersOf(people, i).length ? "All peers are decided alike." : null);
  }
  const changed = now.changed?.find((one) => one.person === i);
  if (changed) {
    lines.push(el("span", {}, `Decided together with the others, the score moves from ${num(changed.before)} to ${num(changed.after)} and with it the decision, because of these peers: `,
      changed.peers.flatMap((j, n) => [n ? ", " : "", personButton(people, j, show)]), "."));
  }
  lines.push(flipWords(data, people, i, now));
  return el("ul", {}, lines.filter(Boolean).map((line) => el("li", {}, line)));
}

function flipWords(data, people, i, point) {
  const { score, flip, alternatives } = people.points[point.id], names = hiddenNames(data, "or");
  if (isInUse(point)) return `What it would say to another ${names} is not known.`;
  if (!point.flip) return `Nobody here has another ${names}.`;
  if (!flip) return `Another ${names} alone changes nothing${point.blind ? ", by construction" : ""}.`;
  const said = listed(Object.entries(alternatives[flip.to[i]]).map(([name, value]) => `${quoted(name)} were ${value}`));
  const flips = isClassification(data) && isPositive(point, score[i]) !== isPositive(point, flip.score[i]);
  return `If only ${said}, the score would be ${num(flip.score[i])}${isClassification(data) ? `: ${flips ? "another decision" : "the same decision"}` : ""}.`;
}

function peerTable(data, people, i, now, show) {
  const hidden = people.attributes.filter((a) => data.data.protected.includes(a.name)), scores = people.points[now.id].score;
  const rows = peersOf(people, i).map(([j, distance]) => [
    personButton(people, j, show), peerWords(data, people, i, j), ...hidden.map((a) => valueOf(a, j)), ...(isClassification(data) ? [decisionCell(data, now, scores[j])] : []), num(scores[j]), num(distance, 2)]);
  const head = ["person", "why a peer", ...hidden.map((a) => a.name), ...(isClassification(data) ? ["decision"] : []), "score", "distance"];
  const found = table(`Looked for on everything but ${hiddenNames(data)}.`, head, rows);
  found.classList.add("peers");
  found.style.setProperty("--points", head.length - 1); // columns on a phone
  return found;
}

function showPerson(data, people, i, now, show) {
  const beside = ["full", "deleted"].map((role) => roleOf(data, role)).filter((p) => p && p.id !== now.id);
  const reach = reachOf(data), peers = peersOf(people, i);
  const facts = people.attributes.map((a) => el("div", {}, el("dt", {}, a.name), el("dd", {}, valueOf(a, i))));
  const region = (label, inside) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, inside);
  fill("person",
    el("h3", { id: "person-title", tabindex: "-1" }, `Person ${people.ids[i]}`),
    region("Decisions", outcomeTable(data, people, i, [...beside, now])),
    el("h3", {}, "What would have to be different"),
    otherwise(data, people, i, now, show),
    el("h3", {}, peers.length ? many(peers.length, "peer") : "No close peers"),
    peers.length ? region("Peers", peerTable(data, people, i, now, show))
      : el("p", {}, `Nobody among the ${count(people.ids.length)} people is close enough to be compared with${reach == null ? "" : ` (within a distance of ${num(reach, 2)})`}: nothing can be said about like treatment here.`),
    el("details", {}, el("summary", {}, "What is known of this person"), el("dl", {}, facts)));
}

function showWorst(data, people, now, show) {
  say("worst-words", now.worst.length ? `With ${pointName(now)}, furthest on the bad side (${data.higher_is_better ? "lower" : "higher"} scores) of their peers are:` : "");
  fill("worst", now.worst.slice(0, WORST).map(({ person, gap }) => el("li", {}, personButton(people, person, show), ` (${signed(gap)})`)));
}

function listMatches(people, typed, show) {
  const found = findPeople(people, typed);
  say("found", !typed.trim() ? "" : found.length === 0 ? "Nobody fits." : `${count(found.length)} ${found.length === 1 ? "person fits" : "people fit"}${found.length > MATCHES ? `; the first ${MATCHES} are listed` : ""}.`);
  fill("matches", found.slice(0, MATCHES).map((i) => el("li", {}, personButton(people, i, show))));
  return found;
}

function showFinder(people, show) {
  const input = byId("who");
  input.addEventListener("input", () => listMatches(people, input.value, show));
  byId("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const found = listMatches(people, input.value, show);
    if (found.length) show(found[0], true);
  });
}

function peopleWords(data, people) {
  const alone = people.neighbours.filter((_, i) => !peersOf(people, i).length).length;
  return `${count(people.ids.length)} people were judged on. Peers are the people most alike on everything but ${hiddenNames(data)}${reachOf(data) == null ? "" : ", and near enough to be called alike"}.` +
    (alone ? ` ${many(alone, "person has", "people have")} no close peers.` : "");
}
