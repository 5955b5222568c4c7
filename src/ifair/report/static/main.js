// Start: read the evidence, show it, and follow what is chosen.

const state = { data: null, people: null, now: null, person: 0 };

function choose(id) {
  const found = state.data.points.find((p) => p.id === id);
  if (!found || found === state.now) return;
  state.now = found;
  update();
}

function show(i, focus = false) {
  state.person = i;
  showPerson(state.data, state.people, i, state.now, show);
  say("status", `Person ${state.people.ids[i]} is shown.`);
  if (focus) byId("person-title").focus();
}

function update() {
  const { data, people, now } = state;
  say("lead", leadWords(data, now));
  showVerdict(data, now);
  say("trade-off-words", `Every point is a way to decide. Further right is more useful, further up treats like people more alike${data.settings.tuned ? "" : "; the settings are those of a small grid, and a search (ifair tune) may find better ones"}.`);
  const doubted = data.points.some(isDoubted);
  say("trade-off-caption", (data.front ?? []).length > 1 ? `The line is the best consistency that any point${doubted ? " without a caution" : ""} reaches at each utility or more, on test people; the band is its 95 % interval. The best of many is a little lucky.` : "",
    doubted ? "Faint points carry a caution, such as nearly one decision for everybody, and the line passes them by." : "", "Crosses are 95 % intervals. A click on a point shows the page for it.");
  showPoints(data, now, choose);
  showGroups(data, now);
  showPerson(data, people, state.person, now, show);
  showWorst(data, people, now, show);
  showLearned(data, people, now);
  showOtherPeers(data, now);
  showLeak(data, now);
  showCertificate(data, now);
  drawTradeOff(data, now, choose);
  say("status", `Shown for ${pointName(now)}: ${data.utility.name} ${num(now.test.utility.estimate)}, consistency of ranks ${num(now.test.ranks?.estimate)}.`);
  document.documentElement.dataset.shown = now.id;
}

async function start() {
  const data = JSON.parse(byId("evidence").textContent);
  state.data = data;
  state.people = await unpackPeople();
  state.now = data.points.find((p) => p.id === (data.verdict?.choice ?? data.choices.balanced)) ?? data.points.at(-1);
  state.person = state.now.worst[0]?.person ?? 0;
  say("people-words", peopleWords(data, state.people));
  showOptions(data, choose);
  showFinder(state.people, show);
  showData(data);
  update();
  let timer, width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => { drawTradeOff(state.data, state.now, choose); showGroups(state.data, state.now); }, 150);
  });
}

start();
