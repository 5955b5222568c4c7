// The verdict, the comparison with the full data and with deleting the columns, and the choice of a point.

function showOptions(data, choose) {
  const options = data.points.map((p) => {
    const rules = rulesOf(data, p.id);
    return el("option", { value: p.id }, pointName(p) + (rules.length ? ` (${rules.join(", ")})` : ""));
  });
  fill("point", options).addEventListener("change", (event) => choose(event.target.value));
}

const BESIDE = {
  full: "This is the model on the full data, which everything else is compared with.",
  deleted: "This is deleting the protected columns: what anything else has to beat.",
  penalised: "This is deleting the protected columns with a tuned penalty: what anything else has to beat.",
};

function showVerdict(data, now) {
  const verdict = now.verdict, rules = rulesOf(data, now.id);
  byId("point").value = now.id;
  say("sentence", verdict?.sentence ?? BESIDE[now.role] ?? `${pointName(now)} was not judged against deleting the columns.`);
  byId("verdict-box").classList.toggle("worth", Boolean(verdict?.worth));
  say("shown-for", `${now.label}: ${now.name}${rules.length ? `; the ${listed(rules)} choice` : ""}.`,
    now.id === data.verdict?.choice ? data.verdict.reasons.filter((r) => r.startsWith("The choice")) : "");
  say("rule", (verdict ?? data.verdict)?.rule ?? "There is no verdict on this table.");
  // Where the verdict is not to use it, it says why.
  fill("cautions", [...(data.cautions ?? []), ...(now.cautions ?? []), ...(verdict?.besides ?? [])].filter((one) => !verdict?.sentence.includes(one.text.slice(1))).map((one) => el("p", { class: "caution" }, el("strong", {}, "Caution: "), one.text)));
  say("scope", verdict?.scope ?? "");
  showComparison(data, now);
}

/** What the point shown is held against: deleting the columns, or where it is that itself, the full data. */
function comparedRoles(now) {
  const found = ["deleted", "penalised"].filter((role) => now.differences?.[role]);
  return found.length ? found : now.differences?.full ? ["full"] : [];
}
const againstWords = (data, now, role) => `${now.label} against ${roleOf(data, role).label}`;

/** A difference in words, its class and its interval. */
function differenceCell(one, write, caution, against) {
  if (!one || one.estimate == null) return "–";
  const kind = one.word === "better" && !caution ? "better" : one.word === "worse" ? "worse" : null;
  const ends = one.low == null || one.word === "the same" ? null
    : el("small", {}, `${signed(one.estimate, write.bare)}${write.points} (${signed(one.low, write.bare)}\u00a0to\u00a0${signed(one.high, write.bare)})`);
  return el("span", { class: "against", "data-against": against }, el("span", { class: kind }, one.word + (one.word === "better" && caution ? ", but see the caution" : "")), ends);
}

function showComparison(data, now) {
  const beside = ["full", "deleted", "penalised"].map((role) => roleOf(data, role)).filter((p) => p && p.id !== now.id);
  const against = comparedRoles(now);
  const points = [...beside, now];
  const measures = measuresOf(data, now).filter((m) => points.some((p) => m.of(p)?.estimate != null));
  const cell = (m, p) => {
    const one = m.of(p);
    return one?.estimate == null ? "–" : withRange(m.write(one.estimate), one.low, one.high, m.write);
  };
  const rows = measures.map((m) => [
    el("span", {}, m.what, el("small", {}, m.note)),
    ...points.map((p) => cell(m, p)),
    ...against.map((role) => differenceCell(now.differences[role][m.key], m.write, now.cautions?.length, againstWords(data, now, role))),
  ]);
  const head = ["", ...points.map((p) => el("span", {}, key(p.role), pointName(p))), ...against.map((role) => el("span", { class: "against" }, againstWords(data, now, role)))];
  byId("compare").style.setProperty("--points", points.length); // columns on a phone
  fill("compare", table("Small print: 95 % intervals. Better and worse are said only where the interval of the difference excludes zero. It is taken on the same people; of flips or moves, and of guesses at the group, from end to end of both intervals, which is wider than needed.", head, rows));
}

/** One row per point: what it is in full, and its numbers. */
function showPoints(data, now, choose) {
  const amount = amountWriter(data);
  const estimate = (one) => (one ? withRange(num(one.estimate), one.low, one.high, writeNumber(2)) : "–");
  const rows = data.points.map((p) => [
    el("span", {}, key(p.role), el("button", { type: "button", class: "link", "data-point": p.id, onclick: () => choose(p.id) }, `${p.label} · ${p.name}`),
      el("small", {}, [...rulesOf(data, p.id), ...(p.cautions ?? []).map((c) => c.tag)].join(", "))),
    estimate(p.test.utility), estimate(p.test.ranks), estimate(p.test.yNN),
    amount(p.flip?.share_flipped ?? p.flip?.mean), amount(p.groups[0]?.parity),
  ]);
  const head = ["point", data.utility.name, "consistency of ranks", "yNN, as in the paper", isClassification(data) ? "flips" : "moves", "largest gap"];
  const focused = document.activeElement?.dataset?.point;
  say("points-title", `All ${data.points.length} points in numbers, with K, λ and μ`);
  fill("points", table(`On test people, with 95 % intervals. ${settingsWords(data)}`, head, rows, (i) => data.points[i].id === now.id));
  if (focused) [...byId("points").querySelectorAll("button")].find((b) => b.dataset.point === focused)?.focus();
}
