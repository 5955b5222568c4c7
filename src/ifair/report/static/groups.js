// Gaps between groups, the largest first.

const ENOUGH = 20; // people in a group, for it to take part in a gap
const partitionOf = (p, name) => p.groups.find((g) => g.partition === name);

/** Who is at the ends of a partition, among groups of enough people. */
function endsOf(partition) {
  const enough = partition.groups.filter((g) => g.n >= ENOUGH && g.rate != null).sort((a, b) => b.rate - a.rate);
  return [enough[0], enough.at(-1)];
}

function showGroups(data, now) {
  const beside = ["full", "deleted"].map((role) => roleOf(data, role)).filter((p) => p && p.id !== now.id);
  const known = now.groups.filter((g) => g.parity != null), lead = known[0];
  byId("groups-figure").hidden = !lead;
  byId("gaps").hidden = !lead;
  if (!lead) {
    say("groups-words", "No two groups have enough people to be compared.");
    return fill("groups-tables");
  }
  const amount = amountWriter(data), points = (v) => (v == null ? "–" : isClassification(data) ? `${num(100 * v, 1)} percentage points` : num(v));
  const [most, least] = endsOf(lead);
  say("groups-words",
    `By ${quoted(lead.partition)}: ${isClassification(data) ? `${amount(most.rate)} of “${most.label}” and ${amount(least.rate)} of “${least.label}” are predicted ${outcomeName(data)}` : `“${most.label}” have a mean score of ${amount(most.rate)}, “${least.label}” of ${amount(least.rate)}`}, a gap of ${points(lead.parity)}`
      + beside.map((p, i) => `${i ? " and" : "; the largest gap is"} ${points(partitionOf(p, lead.partition)?.parity)} with ${shortName(p) === "full data" ? "the full data" : "the columns deleted"}`).join("") + ".",
    `What truly happened: ${amount(most.base)} and ${amount(least.base)}.`, "Like treatment of like people does not make rates of groups equal, and does not aim at it.");
  fill("groups-caption", [...beside, now].flatMap((p) => [key(p.role), `${pointName(p)}\u2003`]));
  const measure = (p, name) => partitionOf(p, name) && withRange(amount(partitionOf(p, name).parity), ...(partitionOf(p, name).parity_interval ?? []), amount);
  const against = comparedRoles(now).slice(0, 1);
  byId("gaps").style.setProperty("--points", beside.length + 1); // columns on a phone
  fill("gaps", table("The largest gap between the groups of each partition, among groups of 20 people or more, with 95 % intervals. The others are in the appendix.",
    ["groups by", ...[...beside, now].map((p) => el("span", {}, key(p.role), pointName(p))), ...against.map((role) => el("span", { class: "against" }, againstWords(data, now, role)))],
    known.map((g) => [partitionWords(data, g.partition), ...[...beside, now].map((p) => measure(p, g.partition)),
      ...against.map((role) => differenceCell(now.differences[role][`gap:${g.partition}`], amount, now.cautions?.length, againstWords(data, now, role)))])));
  fill("groups-tables", now.groups.map((g) => groupTable(data, g, beside, now)));
  drawGroups(data, { ...lead, groups: lead.groups.filter((g) => g.n >= ENOUGH).slice(0, 12) }, [...beside, now]);
}

const partitionWords = (data, name) => (name === "protected group" && data.data.group ? `protected group (${data.data.group})` : name);

function groupTable(data, partition, beside, now) {
  const amount = amountWriter(data);
  const cell = (p, label, name) => {
    const group = partitionOf(p, partition.partition)?.groups.find((g) => g.label === label);
    return group?.[name] == null ? "–" : withRange(amount(group[name]), ...(group[`${name}_interval`] ?? []), amount);
  };
  const points = [...beside, now], extra = isClassification(data) ? [["tpr", "of those with the outcome"]] : data.task === "ranking" ? [["top", "share of the first ten"]] : [];
  const head = ["group", "people", `truly ${outcomeName(data)}`, ...[["rate", ""], ...extra].flatMap(([, what]) => points.map((p) => `${p.label}${what ? `, ${what}` : ""}`))];
  const rows = partition.groups.map((g) => [g.label, count(g.n), amount(g.base), ...["rate", ...extra.map(([name]) => name)].flatMap((name) => points.map((p) => cell(p, g.label, name)))]);
  return el("div", {}, el("h3", {}, partitionWords(data, partition.partition)), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": partition.partition },
    table(`${points.map(pointName).join("; ")}. With 95 % intervals.`, head, rows)));
}
