// The people: finding one, who is like them, what happened to them before and after.

const MATCHES = 12;

/** The people's table, inflated. */
async function unpackPeople() {
  const bytes = Uint8Array.from(atob(byId("people-data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const valueOf = (attribute, i) => (attribute.codes ? attribute.labels[attribute.codes[i]] : short(attribute.values[i]));
const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;

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

function decided(data, score) {
  if (!isClassification(data)) return num(score);
  return `${score > 0.5 ? "positive" : "negative"} (${num(score, 2)})`;
}

const personButton = (people, i, show) => el("button", { type: "button", class: "link", onclick: () => show(i, true) }, people.ids[i]);

/** Whether two people have the same value, also where the page shows texts cut short. */
const alike = (attribute, i, j) => (attribute.codes ? attribute.codes[i] === attribute.codes[j] : valueOf(attribute, i) === valueOf(attribute, j));

/** Unprotected attributes in which two people differ, as text. */
function differences(data, people, i, j) {
  const found = people.attributes.filter((a) => !data.data.protected.includes(a.name) && !alike(a, i, j));
  const said = found.slice(0, 4).map((a) => `${a.name}: ${valueOf(a, j)}`);
  if (found.length > 4) said.push(`${found.length - 4} more`);
  return said.length ? said.join("; ") : "nothing that may count";
}

function outcomeWords(data, people, i, now, was) {
  const before = people.points[was.id].score, after = people.points[now.id].score, near = people.neighbours[i];
  const standing = (scores) => !near.length ? "nobody is close enough to compare them with" : isClassification(data)
    ? `${near.filter((j) => scores[j] > 0.5).length} of the ${near.length} most similar people are decided positively`
    : `the ${near.length} most similar people get ${num(mean(near.map((j) => scores[j])))} on average`;
  return [
    `Before, with the full data: ${decided(data, before[i])}; ${standing(before)}.`,
    now.id === was.id ? null : `After, with ${now.name}: ${decided(data, after[i])}; ${standing(after)}.`,
    `What truly happened (“${data.data.target}”): ${short(people.truth[i])}.`,
  ].filter(Boolean);
}

function changeWords(data, people, i, point, when) {
  const { score, flip, alternatives } = people.points[point.id];
  const names = listed(data.data.protected.map((n) => `“${n}”`));
  if (!point.flip) return `${when}: nobody here has another ${names}.`;
  if (!flip) return `${when}: nothing changes if only ${names} changes${point.blind ? ", by construction" : ""}.`;
  const other = alternatives[flip.to[i]];
  const said = listed(Object.entries(other).map(([name, value]) => `“${name}” were ${value}`));
  const change = isClassification(data) && score[i] > 0.5 !== flip.score[i] > 0.5 ? "The decision would be another one." : isClassification(data) ? "The decision would be the same." : "";
  return `${when}: if only ${said}, the score would be ${num(flip.score[i])} instead of ${num(score[i])}. ${change}`;
}

function neighbourTable(data, people, i, now, was, show) {
  const hidden = people.attributes.filter((a) => data.data.protected.includes(a.name));
  const head = ["person", "distance", ...hidden.map((a) => a.name), "before", "after", "differs in"];
  const row = (j, distance) => [
    j === i ? "this person" : personButton(people, j, show),
    distance,
    ...hidden.map((a) => valueOf(a, j)),
    decided(data, people.points[was.id].score[j]),
    decided(data, people.points[now.id].score[j]),
    j === i ? "–" : differences(data, people, i, j),
  ];
  const rows = [row(i, "0"), ...people.neighbours[i].map((j, n) => row(j, num(people.distances[i][n], 2)))];
  return table("The people most like this one on everything that may count", head, rows, (n) => n === 0);
}

function showPerson(data, people, i, now, was, show) {
  const facts = people.attributes.map((a) => el("div", {}, el("dt", {}, a.name), el("dd", {}, valueOf(a, i))));
  const changes = [changeWords(data, people, i, was, "Before")];
  if (now.id !== was.id) changes.push(changeWords(data, people, i, now, "After"));
  fill(
    "person",
    el("h3", { id: "person-title", tabindex: "-1" }, `Person ${people.ids[i]}`),
    el("ul", {}, outcomeWords(data, people, i, now, was).map((said) => el("li", {}, said))),
    el("h3", {}, `What if only ${listed(data.data.protected.map((n) => `“${n}”`))} changed?`),
    el("ul", {}, changes.map((said) => el("li", {}, said))),
    el("h3", {}, "The nearest equally qualified"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Similar people" }, neighbourTable(data, people, i, now, was, show)),
    el("h3", {}, "What is known of them"),
    el("dl", {}, facts),
  );
}

function showWorst(data, people, now, show) {
  const scores = people.points[now.id].score;
  const rows = now.worst.map(({ person, gap }) => [
    personButton(people, person, show),
    num(scores[person]),
    num(mean(people.neighbours[person].map((j) => scores[j]))),
    signed(gap),
  ]);
  const bad = data.higher_is_better ? "lower" : "higher";
  byId("worst-words").textContent = `With ${now.name}, these people's scores are furthest on the bad side (${bad}) of those of the people most like them.`;
  fill("worst", table("Worst first", ["person", "score", "mean of the most similar", "difference"], rows));
}

function listMatches(people, typed, show) {
  const found = findPeople(people, typed);
  const said = !typed.trim() ? "" : found.length === 0 ? "Nobody fits." : `${count(found.length)} ${found.length === 1 ? "person fits" : "people fit"}${found.length > MATCHES ? `; the first ${MATCHES} are listed` : ""}.`;
  byId("found").textContent = said;
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
