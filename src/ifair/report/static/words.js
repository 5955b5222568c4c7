// What the numbers say, in sentences. `now` is the chosen point, `was` the full data.

const isClassification = (data) => data.task === "classification";
const mainAttack = (point) => point.adversary[0];
const mainGroups = (point) => point.groups[0];

/** Whether an interval excludes zero. */
const clear = (one) => one && (one.low > 0 || one.high < 0);

function leadWords(data) {
  const { records, protected: hidden, target } = data.data;
  const decided = { classification: "who gets a positive decision", regression: "which score people get", ranking: "who is ranked first" }[data.task];
  return `${count(records)} records; a ${data.settings.model} decides ${decided} (“${target}”), and ${listed(hidden.map((n) => `“${n}”`))} must not count. ` +
    `This page shows what becomes of the decisions when the model learns from a fair representation instead of the full data. ` +
    `All numbers are about ${count(data.data.parts.test)} people whom no model has seen.`;
}

function consistencyWords(data, now, was) {
  const k = data.settings.neighbours;
  if (isClassification(data)) {
    const alike = (p) => percent(p.test.yNN.estimate, 1);
    return `Of the people most like a person (${k} at most), on average ${alike(now)} get the same decision (yNN ${num(now.test.yNN.estimate)}, 95 % interval ${range(now.test.yNN)}); with the full data ${alike(was)}.`;
  }
  return `Scores of people who are alike differ by ${percent(1 - now.test.yNN.estimate, 1)} of the range (yNN ${num(now.test.yNN.estimate)}, 95 % interval ${range(now.test.yNN)}); with the full data by ${percent(1 - was.test.yNN.estimate, 1)}.`;
}

function flipWords(data, now, was) {
  const names = listed(data.data.protected.map((n) => `“${n}”`));
  if (!now.flip) return `Everybody has the same ${names}: nothing could be changed.`;
  const extent = (p) => isClassification(data)
    ? `${percent(p.flip.share_flipped)} of people would get another decision`
    : `scores would move by ${num(p.flip.mean)} on average`;
  if (now.blind) return `Nothing changes for anybody if only ${names} changes: the representation cannot see it. That is a guarantee, not a measurement. With the full data ${extent(was)}.`;
  if (now.flip.worst === 0) return `Nothing changed for anybody when only ${names} was changed.`;
  const moved = now.id === was.id ? "" : `; with the full data ${extent(was)}`;
  return `If only ${names} changed, ${extent(now)}${moved}.`;
}

function leakWords(now, was) {
  const one = mainAttack(now), before = mainAttack(was);
  if (!one) return "The protected group is too small to be guessed at.";
  const guess = one.interval_of === "auc" && one.low <= 0.5 ? ` That is not clearly better than a guess (95 % interval ${range(one, 2)}).` : "";
  const turned = one.reversed && !guess ? " The guesses were wrong more often than right, which tells as much: the AUC is that of their opposite." : "";
  return `Somebody who sees only the representation tells the protected group from the others with an AUC of ${num(one.auc)} (0.5 is a guess, 1 is certainty); from the full data with ${num(before.auc)}.${guess}${turned}`;
}

function groupWords(data, now, was) {
  const gap = (p) => mainGroups(p)?.parity;
  if (gap(now) == null) return "There is only one group to look at.";
  if (isClassification(data)) {
    return `The share of positive decisions differs between the protected group and the others by ${num(100 * gap(now), 1)} percentage points; with the full data by ${num(100 * gap(was), 1)}.`;
  }
  return `Mean scores of the protected group and the others differ by ${num(gap(now))}; with the full data by ${num(gap(was))}.`;
}

const A_FEW_POINTS = 0.03;

/** The overall share of positive decisions, and what to make of it. */
function shareWords(now, was) {
  const one = now.test.positive, before = was.test.positive;
  if (!one || !before) return null;
  const change = one.estimate - before.estimate;
  const same = now.id === was.id;
  const lots = (p) => p.test.positive.estimate ** 2 + (1 - p.test.positive.estimate) ** 2;
  const said = [
    `${percent(one.estimate, 1)} of people get a positive decision (95 % interval ${percent(one.low, 1)} to ${percent(one.high, 1)})${same ? "" : `; with the full data ${percent(before.estimate, 1)}`}.`,
    Math.abs(change) <= A_FEW_POINTS ? "" : `That is ${num(100 * Math.abs(change), 1)} percentage points ${change > 0 ? "more" : "fewer"}; none of the measures of fairness shows that.`,
    `Drawing lots at this rate would give a yNN of ${num(lots(now))}${same ? "" : `; at that of the full data ${num(lots(was))}`}.`,
  ];
  return said.filter(Boolean).join(" ");
}

/** The certificate, where it got worse. */
function certificateWords(now, was) {
  const one = now.certificate.epsilon, before = was.certificate.epsilon;
  if (one == null || before == null || one <= before) return null;
  return `The certificate is weaker: distances between people are kept within ${num(one, 2)}, with the full data within ${num(before, 2)} (smaller is better).`;
}

function costWords(data, now, was) {
  const name = data.utility.name, one = now.test.utility;
  const said = [`${name} is ${num(one.estimate)} (95 % interval ${range(one)}); with the full data ${num(was.test.utility.estimate)}. ${name}: ${data.utility.explained}.`];
  const gain = now.test.gain;
  if (gain && now.id !== was.id) {
    const verdict = !clear(gain)
      ? "so small that chance could explain it on this many people"
      : gain.estimate < 0 ? "a real loss" : "a real gain";
    said.push(`The difference to the full data is ${signed(gain.estimate)} (95 % interval ${range(gain)}): ${verdict}.`);
  }
  if (now.test.accuracy) said.push(`${percent(now.test.accuracy.estimate, 1)} of decisions agree with the outcome; with the full data ${percent(was.test.accuracy.estimate, 1)}.`);
  said.push(shareWords(now, was), certificateWords(now, was));
  return said.filter(Boolean);
}

function buyWords(data, now, was) {
  if (now.id === was.id) return ["Nothing: these are the full data, what everything else is compared with.", consistencyWords(data, now, was), flipWords(data, now, was)];
  return [consistencyWords(data, now, was), flipWords(data, now, was), leakWords(now, was), groupWords(data, now, was)];
}

/** What must be known before the cards are read; evidence of earlier releases has none. */
const cautionsOf = (point) => point.cautions ?? [];

/** Whether the utility is not clearly above that of a model that knows nothing. */
const atChance = (data, point) => data.utility.chance != null && point.test.utility.low <= data.utility.chance;

/** The cards: title, value, what it was, how to write it, whether higher is better, and whether the difference is more than chance. */
function cardFacts(data, now, was) {
  const facts = [
    [`Utility (${data.utility.name})`, now.test.utility.estimate, was.test.utility.estimate, (v) => num(v), true, clear(now.test.gain)],
    ["Consistency (yNN)", now.test.yNN.estimate, was.test.yNN.estimate, (v) => num(v), true],
  ];
  if (now.flip && was.flip) {
    facts.push(isClassification(data)
      ? ["Decisions that flip with the protected attributes", now.flip.share_flipped, was.flip.share_flipped, (v) => percent(v), false]
      : ["Scores move with the protected attributes by", now.flip.mean, was.flip.mean, (v) => num(v), false]);
  }
  if (mainAttack(now)) facts.push(["Protected group can be guessed (AUC)", mainAttack(now).auc, mainAttack(was).auc, (v) => num(v, 2), false]);
  if (mainGroups(now)?.parity != null) facts.push([isClassification(data) ? "Gap between groups, positive decisions" : "Gap between groups, mean scores", mainGroups(now).parity, mainGroups(was).parity, (v) => (isClassification(data) ? percent(v, 1) : num(v)), false]);
  return facts;
}
