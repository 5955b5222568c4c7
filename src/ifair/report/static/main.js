// Start: read the evidence, show it, and follow what is chosen.

const state = { data: null, people: null, now: null, was: null, person: 0 };

function choose(id) {
  const found = state.data.points.find((p) => p.id === id);
  if (!found || found === state.now) return Promise.resolve();
  state.now = found;
  return update();
}

function show(i, focus = false) {
  state.person = i;
  const { data, people, now, was } = state;
  showPerson(data, people, i, now, was, show);
  byId("status").textContent = `Person ${people.ids[i]} is shown.`;
  if (focus) byId("person-title").focus();
}

async function update() {
  const { data, people, now, was } = state;
  markChoice(data, now);
  showShort(data, now, was);
  showPoints(data, now, choose);
  showPerson(data, people, state.person, now, was, show);
  showWorst(data, people, now, show);
  showLeak(data, now, was);
  showCertificate(data, now);
  byId("status").textContent = `Shown for ${now.name}: ${data.utility.name} ${num(now.test.utility.estimate)}, consistency ${num(now.test.yNN.estimate)}.`;
  await pictures();
}

/** Everything that is drawn; again when the colours change. */
async function pictures() {
  const { data, now, was } = state;
  await drawTradeOff(data, now.id, choose);
  await showLearned(data, now);
  await showGroups(data, now, was);
  document.documentElement.dataset.shown = now.id;
}

async function start() {
  const data = JSON.parse(byId("evidence").textContent);
  state.data = data;
  state.people = await unpackPeople();
  state.was = data.points.find((p) => p.id === "full");
  const first = data.choices.balanced ?? data.points.at(-1).id;
  state.now = data.points.find((p) => p.id === first);
  state.person = state.now.worst[0]?.person ?? 0;
  byId("lead").textContent = leadWords(data);
  byId("people-words").textContent =
    `${count(state.people.ids.length)} test people. “Before” is the model on the full data, “after” the chosen point. Similar people are alike on everything but ${listed(data.data.protected.map((n) => `“${n}”`))}.`;
  showChoices(data, choose);
  showFinder(state.people, show);
  showData(data);
  await update();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", pictures);
  let timer;
  addEventListener("resize", () => { clearTimeout(timer); timer = setTimeout(pictures, 200); });
}

start();
