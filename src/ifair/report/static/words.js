// What points, outcomes and measures are called.

const isClassification = (data) => data.task === "classification";
const roleOf = (data, role) => data.points.find((p) => p.role === role);
const ROLES = { full: "full data", deleted: "columns deleted", penalised: "columns deleted, tuned penalty" };

/** What a point is, without its numbers. */
function shortName(p) {
  if (ROLES[p.role]) return ROLES[p.role];
  const parts = p.name.split(", ").filter((part) => !part.includes(" = ")).map((part) => part.replace(/ of strength .*/, ""));
  return parts.filter((part) => parts.length === 1 || !["protected columns deleted", "linear model"].includes(part)).join(", ");
}
const pointName = (p) => `${p.label} · ${shortName(p)}`;
const isDoubted = (p) => Boolean(p.cautions?.length);
const isInUse = (p) => p.family === "existing";
/** The rules that chose a point; nobody chose the model in use. */
const rulesOf = (data, id) => (data.points.some((p) => p.id === id && isInUse(p)) ? [] : Object.entries(data.choices).filter(([, chosen]) => chosen === id).map(([name]) => name.replaceAll("_", " ")));
const hiddenNames = (data, last) => listed(data.data.protected.map(quoted), last);
const key = (role) => el("span", { class: `key ${role}`, "aria-hidden": "true" });

/** The outcome in the table's own words: the column, with the value that counts unless it only says yes. */
function outcomeName(data) {
  const { target, positive } = data.data;
  return positive == null || /^(1|1\.0|true|yes|y)$/i.test(positive) ? quoted(target) : quoted(`${target}: ${positive}`);
}

/** The other outcome: by its own name, where the table has one that says more than no. */
function otherName(data) {
  const { target, negative } = data.data;
  return negative == null || /^(0|0\.0|false|no|n)$/i.test(negative) ? `not ${outcomeName(data)}` : quoted(`${target}: ${negative}`);
}

/** What truly happened to somebody, in the table's own words. */
function truthWords(data, value) {
  const { target, positive, negative } = data.data;
  if (!isClassification(data)) return `${quoted(target)} is ${short(value)}`;
  return `${quoted(target)} is ${value ? positive ?? 1 : negative ?? (positive == null ? 0 : `not ${positive}`)}`;
}

const thresholdOf = (p) => p.threshold ?? 0.5;
const isPositive = (p, score) => score > thresholdOf(p);

/** What was decided at a score. */
function decided(data, p, score) {
  return isPositive(p, score) ? outcomeName(data) : otherName(data);
}

/** Whether a model has learned from the people that it is judged on. */
function judgedWords(data) {
  const inUse = data.points.find(isInUse);
  return inUse
    ? `. Whether ${quoted(inUse.name)} learned from them, this page cannot know: if it did, it looks better here than it is. The other models have not seen them.`
    : " whom no model has seen.";
}

/** Where the settings come from, and who chose among them. */
function settingsWords(data) {
  if (data.settings.tuned) return "Settings were searched for, and the choices made, on validation people.";
  const chosen = data.points.some(isInUse) ? "the tuned penalty was chosen" : "the choices among them, and the tuned penalty, were made";
  return `Settings are those of a small grid, not of a search; ${chosen} on validation people.`;
}

/** That people stand for several, where they do; what they count once in is in the appendix. */
const weightWords = (data) => (data.data.weighted_by == null ? "" : ` People are weighted by ${quoted(data.data.weighted_by)}.`);

/** That groups are to get the same rate, where they are, and how far the point shown is from it. */
function parityWords(data, now) {
  const parity = data.settings.parity;
  if (parity == null) return "";
  const whom = parity.kind === "selection" ? "" : " of those whom the model expects to be positive";
  const gap = now.parity_gap, among = parity.kind === "selection" ? "" : " among those who truly are positive";
  const reached = gap == null ? "" : ` On the people judged the largest gap${among} is ${gap.estimate == null ? "not known" : `${num(100 * gap.estimate, 1)} percentage points (${num(100 * gap.low, 1)} to ${num(100 * gap.high, 1)}) with ${now.label}`}, between groups of ${ENOUGH} people or more.`;
  return ` Thresholds of each group of ${quoted(parity.groups)}, found on other people, aim at the same rate${whom}.${reached}`;
}

function leadWords(data, now) {
  const { records, parts, group, group_share: share } = data.data;
  const what = data.task === "ranking" ? `to rank people by ${outcomeName(data)}` : `to predict ${outcomeName(data)}`;
  const protect = group && !data.data.protected.some((name) => group === name)
    ? ` The protected group is everybody whose ${group} (${percent(share)}).` : "";
  const unknown = data.data.unknown_others ? ` Of ${many(data.data.unknown_others, "person", "people")} that is not known, for lack of a protected value: counted among the others.` : "";
  return `Models learn from ${count(parts.train)} of ${count(records)} records ${what}; ${hiddenNames(data)} must not count.${protect}${unknown}${weightWords(data)} All numbers are about ${count(parts.test)} people${judgedWords(data)}${parityWords(data, now)}`;
}

/** How shares are written: the unit once, after an interval; and differences of them in points. */
const writeShare = Object.assign((v) => percent(v, 1), { bare: (v) => num(100 * v, 1), unit: "\u00a0%", points: "\u00a0points" });
const writeNumber = (decimals) => Object.assign((v) => num(v, decimals), { bare: (v) => num(v, decimals), unit: "", points: "" });
const amountWriter = (data) => (isClassification(data) ? writeShare : writeNumber(3));

/** The measures of the comparison: what they are called, where they are found, how they are written. */
function measuresOf(data, now) {
  const test = (name) => (p) => p.test[name] && { ...p.test[name] };
  const lead = now.groups[0];
  const flips = (p) => p.flip && (p.blind ? { estimate: 0 } : { estimate: p.flip.share_flipped ?? p.flip.mean, low: p.flip.interval?.[0], high: p.flip.interval?.[1] });
  const attack = (p) => p.adversary[0] && { estimate: p.adversary[0].auc, ...(p.adversary[0].interval_of === "auc" ? { low: p.adversary[0].low, high: p.adversary[0].high } : {}) };
  const gap = (p) => {
    const found = p.groups.find((g) => g.partition === lead.partition);
    return found && { estimate: found.parity, low: found.parity_interval?.[0], high: found.parity_interval?.[1] };
  };
  const amount = amountWriter(data);
  return [
    { what: data.utility.name, note: data.utility.explained, key: "utility", of: test("utility"), write: writeNumber(3) },
    { what: "Consistency of ranks", note: "whether like people are ranked alike: 0 by chance, 1 at best", key: "ranks", of: test("ranks"), write: writeNumber(3) },
    { what: "Consistency at one rate", note: "whether like people are decided alike when all select as many: 0 by chance, 1 at best", key: "matched", of: test("matched"), write: writeNumber(3) },
    { what: "Accuracy", note: "decisions that agree with the outcome", key: "accuracy", of: test("accuracy"), write: writeShare },
    { what: `Predicted ${outcomeName(data)}`, note: "of all people", key: "positive", of: test("positive"), write: writeShare },
    { what: isClassification(data) ? "Flips" : "Moves", note: `${isClassification(data) ? "decisions that change" : "how far scores move"} if only ${hiddenNames(data, "or")} does`, key: "flip", of: flips, write: amount },
    lead?.parity == null ? null : { what: `Gap by ${lead.partition}`, note: `between the groups with most and least ${isClassification(data) ? outcomeName(data) : "score"}; the largest of all gaps`, key: `gap:${lead.partition}`, of: gap, write: amount },
    { what: "Group can be guessed", note: "AUC of an adversary who sees what the model sees: 0.5 is a guess", key: "leak", of: attack, write: writeNumber(2) },
  ].filter(Boolean);
}
