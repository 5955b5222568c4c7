// Choosing a point: the list, the named choices, the table of all points.

/** The name of a rule of choice, such as "most_useful", for people. */
const ruleWords = (name) => name.replaceAll("_", " ");

/** What a point is called for its role, such as "balanced". */
const rolesOf = (data, id) => Object.entries(data.choices).filter(([, chosen]) => chosen === id).map(([name]) => ruleWords(name));

function pointOptions(data) {
  return data.points.map((p) => {
    const roles = rolesOf(data, p.id);
    return el("option", { value: p.id }, p.name + (roles.length ? ` (${roles.join(", ")})` : ""));
  });
}

function showChoices(data, choose) {
  fill("point", pointOptions(data)).addEventListener("change", (event) => choose(event.target.value));
  const buttons = Object.entries(data.choices).map(([name, id]) =>
    el("button", { type: "button", "data-choice": id, "aria-pressed": "false", onclick: () => choose(id) }, ruleWords(name)));
  fill("choices", buttons);
}

function markChoice(data, now) {
  byId("point").value = now.id;
  for (const button of byId("choices").children) button.setAttribute("aria-pressed", String(button.dataset.choice === now.id));
  const roles = rolesOf(data, now.id);
  byId("print-choice").textContent = `Shown for: ${now.name}${roles.length ? ` (${roles.join(", ")})` : ""}, compared with the full data.`;
}

/** An estimate and its interval, which may stand below it but is not broken itself. */
const withRange = (one) => `${num(one.estimate)} (${range(one, 2).replaceAll(" ", "\u00a0")})`;

/** One row a point, each with a radio button: arrows move through them. */
function pointRows(data, now, choose) {
  return data.points.map((p) => {
    const radio = el("input", { type: "radio", name: "row", value: p.id, onchange: () => choose(p.id) });
    radio.checked = p.id === now.id;
    const tags = [...rolesOf(data, p.id), ...(p.on_front ? ["on the front"] : []), ...cautionsOf(p).map((one) => one.tag)];
    const name = el("label", { class: "pick" }, radio, el("span", {}, p.name, tags.map((tag) => el("span", { class: "tag" }, tag))));
    const attack = mainAttack(p);
    return [
      name,
      withRange(p.test.utility),
      withRange(p.test.yNN),
      isClassification(data) ? percent(p.flip?.share_flipped) : num(p.flip?.mean),
      num(attack?.auc, 2),
      isClassification(data) ? percent(mainGroups(p)?.parity, 1) : num(mainGroups(p)?.parity),
      `${num(p.validation.utility)} / ${num(p.validation.yNN)}`,
    ];
  });
}

function showPoints(data, now, choose) {
  const focused = document.activeElement?.name === "row";
  const scrolled = byId("points").scrollLeft;
  const head = ["point", `${data.utility.name}`, "yNN", isClassification(data) ? "flips" : "moves", "adversary AUC", "group gap", `validation: ${data.utility.name} / yNN`];
  fill("points", table("On test people, with 95 % intervals. Settings were chosen on validation people.", head, pointRows(data, now, choose), (i) => data.points[i].id === now.id));
  byId("points").scrollLeft = scrolled;
  if (focused) byId("points").querySelector("input:checked").focus();
  const front = data.points.filter((p) => p.on_front).length;
  byId("trade-off-words").textContent =
    `Every point is a way to represent people before the same model decides about them. More useful and more consistent is better; ` +
    (front === 1
      ? "the one point on the front is better in both than all others (on validation people)."
      : `the ${front} points on the front, which the dashed line joins, are those that no other one beats in both (on validation people; shown is what became of them on test people).`) +
    (data.settings.tuned ? "" : " Settings come from a small grid: nobody has tuned them yet.");
}
