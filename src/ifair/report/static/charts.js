// Pictures by Vega-Lite. Field names are our own; names and values of the data are only ever text in them.

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function theme() {
  const ink = css("--ink"), quiet = css("--quiet"), line = css("--line"), font = "system-ui, sans-serif";
  return {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: { labelColor: ink, titleColor: ink, gridColor: line, gridOpacity: 0.6, domainColor: quiet, tickColor: quiet, titleFontWeight: "normal", labelFontSize: 12, titleFontSize: 12, labelLimit: 150, labelOverlap: true, tickCount: 7 },
    legend: { symbolOpacity: 1, labelColor: ink, titleColor: ink, labelFontSize: 12, orient: "bottom", columns: innerWidth < 600 ? 2 : 5, labelLimit: 220 },
    text: { color: ink },
  };
}

/** A tooltip of plain text beside the pointer. */
function showTip(handler, event, item, value) {
  document.querySelector(".tip")?.remove();
  if (value == null || value === "") return;
  const tip = el("div", { class: "tip" });
  tip.textContent = String(value);
  document.body.append(tip);
  const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.min(event.clientY + 12, innerHeight - tip.offsetHeight - 8)}px`;
}

/** Draw into an element; `label` is what a screen reader says of the picture. */
async function draw(id, label, spec) {
  const target = byId(id);
  const whole = { description: label, $schema: "https://vega.github.io/schema/vega-lite/v6.json", width: "container", autosize: { type: "fit-x", contains: "padding" }, config: theme(), ...spec };
  // ast: expressions are interpreted, so that the page's policy need not allow to run strings as code.
  const result = await vegaEmbed(target, whole, { ast: true, actions: false, renderer: "svg", tooltip: showTip, defaultStyle: false, mode: "vega-lite" });
  target.vega?.finalize();
  // After Vega, which gives the element a role and a name of its own.
  target.setAttribute("role", "img");
  target.setAttribute("aria-label", label);
  target.vega = result;
  return result.view;
}

const FAMILIES = { full: "full data", masked: "protected deleted", "svd-masked": "deleted + SVD", lfr: "LFR", ifair: "iFair" };
const SHAPES = { full: "square", masked: "diamond", "svd-masked": "triangle-up", lfr: "cross", ifair: "circle" };
const familyColours = () => ({ full: css("--before"), masked: css("--blue"), "svd-masked": css("--purple"), lfr: css("--green"), ifair: css("--orange") });

const MARKER = 15; // pixels between the centres of two markers, so that neither hides the other

/** From one end to the other of some numbers, with a margin. */
function domainOf(values) {
  const low = Math.min(...values), high = Math.max(...values), margin = 0.06 * (high - low) || 0.01;
  return [low - margin, high + margin];
}

/** Push markers that would hide each other apart: adds `dx` and `dy`, in pixels, to every value. */
function spread(values, domains, size) {
  const pixel = (v, [low, high], length) => (length * (v - low)) / (high - low);
  const places = values.map((v) => [pixel(v.x, domains.x, size.width), size.height - pixel(v.y, domains.y, size.height)]);
  const moved = places.map((place) => [...place]);
  for (let round = 0, busy = true; busy && round < 200; round++) {
    busy = false;
    for (let i = 0; i < moved.length; i++) for (let j = 0; j < i; j++) {
      let dx = moved[i][0] - moved[j][0], dy = moved[i][1] - moved[j][1];
      const apart = Math.hypot(dx, dy);
      if (apart >= MARKER - 0.5) continue;
      busy = true;
      // At the very same place any direction will do; sideways first, as there is most room.
      if (apart < 0.01) [dx, dy] = [Math.cos(i + j - 1), Math.sin(i + j - 1)];
      const push = (MARKER - apart) / 2 / Math.hypot(dx, dy);
      moved[i][0] += dx * push; moved[i][1] += dy * push;
      moved[j][0] -= dx * push; moved[j][1] -= dy * push;
    }
  }
  return values.map((v, i) => ({ ...v, dx: moved[i][0] - places[i][0], dy: moved[i][1] - places[i][1] }));
}

/** Which points have the same numbers, in words. */
function coincidenceWords(data, values) {
  const places = new Map();
  for (const p of data.points) places.set(placeOf(p), [...(places.get(placeOf(p)) ?? []), p]);
  const same = [...places.values()].filter((found) => found.length > 1).map((found) => listed(found.map((p) => `“${p.name}”`)));
  const aside = values.filter((v) => Math.hypot(v.dx, v.dy) > 1).length;
  return [aside ? `${aside} markers are moved a little aside so that none hides another; the table has their numbers.` : "",
    same.length ? `The same to three decimals: ${same.join("; ")}.` : ""].filter(Boolean).join(" ");
}

const placeOf = (p) => `${num(p.test.utility.estimate)} ${num(p.test.yNN.estimate)}`;

async function drawTradeOff(data, chosen, choose) {
  const present = Object.keys(FAMILIES).filter((f) => data.points.some((p) => p.family === f));
  const colours = familyColours();
  const plain = data.points.map((p) => ({
    id: p.id, family: FAMILIES[p.family], x: p.test.utility.estimate, y: p.test.yNN.estimate,
    x1: p.test.utility.low, x2: p.test.utility.high, y1: p.test.yNN.low, y2: p.test.yNN.high,
    chosen: p.id === chosen, front: p.on_front,
    tip: `${p.name}\n${data.utility.name} ${num(p.test.utility.estimate)}, yNN ${num(p.test.yNN.estimate)}`,
  })).filter((v) => v.x != null && v.y != null);
  const now = plain.find((v) => v.chosen);
  const domains = { x: domainOf([...plain.map((v) => v.x), ...(now ? [now.x1, now.x2] : [])].filter((v) => v != null)), y: domainOf([...plain.map((v) => v.y), ...(now ? [now.y1, now.y2] : [])].filter((v) => v != null)) };
  const height = innerWidth < 600 ? 260 : 300;
  const values = spread(plain, domains, { width: Math.max(100, byId("trade-off-chart").clientWidth - 60), height });
  byId("coincide").textContent = coincidenceWords(data, values);
  const x = { field: "x", type: "quantitative", scale: { zero: false, nice: false, domain: domains.x }, title: `${data.utility.name} (right is better)` };
  const y = { field: "y", type: "quantitative", scale: { zero: false, nice: false, domain: domains.y }, title: "consistency yNN (up is better)" };
  const colour = { field: "family", type: "nominal", title: null, scale: { domain: present.map((f) => FAMILIES[f]), range: present.map((f) => colours[f]) } };
  const shape = { ...colour, scale: { domain: present.map((f) => FAMILIES[f]), range: present.map((f) => SHAPES[f]) } };
  const whisker = { type: "rule", opacity: 0.45 };
  const aside = { xOffset: { expr: "datum.dx" }, yOffset: { expr: "datum.dy" } };
  const said = now ? `; chosen: ${now.tip.replace("\n", ", ")}` : "";
  const view = await draw("trade-off-chart", `Trade-off of ${values.length} points${said}. The table below holds the numbers.`, {
    height,
    data: { values },
    layer: [
      { transform: [{ filter: "datum.front" }], mark: { type: "line", strokeDash: [3, 4], color: css("--quiet"), strokeWidth: 1.2, ...aside }, encoding: { x, y, order: { field: "x" } } },
      { transform: [{ filter: "datum.chosen" }], mark: whisker, encoding: { x: { ...x, field: "x1" }, x2: { field: "x2" }, y, color: colour } },
      { transform: [{ filter: "datum.chosen" }], mark: whisker, encoding: { y: { ...y, field: "y1" }, y2: { field: "y2" }, x, color: colour } },
      { transform: [{ filter: "datum.chosen" }], mark: { type: "point", size: 420, shape: "circle", stroke: css("--ink"), strokeWidth: 2, filled: false, ...aside }, encoding: { x, y } },
      { mark: { type: "point", size: 130, filled: true, opacity: 1, cursor: "pointer", ...aside }, encoding: { x, y, color: colour, shape, tooltip: { field: "tip" } } },
    ],
  });
  view.addEventListener("click", (_, item) => {
    if (item?.datum?.id) choose(item.datum.id);
  });
}

function drawWeights(data, now) {
  const shown = now.weights.slice(0, 15).map((w) => ({ name: w.name, weight: w.weight, kind: data.data.protected.includes(w.name) ? "protected" : "may count" }));
  const left = now.weights.length - shown.length;
  return draw("weights-chart", `Weights of ${shown.length} attributes; the largest: ${listed(shown.slice(0, 3).map((w) => `${w.name} ${num(w.weight, 2)}`))}.`, {
    height: 22 * shown.length,
    data: { values: shown },
    mark: { type: "bar" },
    encoding: {
      y: { field: "name", type: "nominal", sort: shown.map((w) => w.name), title: null },
      x: { field: "weight", type: "quantitative", title: `weight${left > 0 ? ` (${left} smaller ones are in the table)` : ""}` },
      color: { field: "kind", type: "nominal", title: null, scale: { domain: ["may count", "protected"], range: [css("--blue"), css("--orange")] } },
    },
  });
}

function drawGroups(data, now, was) {
  const values = now.groups.filter((g) => g.groups.length <= 12).flatMap((g, i) => g.groups.flatMap((group, j) => {
    const before = was.groups[i]?.groups[j];
    const name = `${g.partition}: ${group.label} (${group.n})`;
    return [{ name, when: "before", rate: before?.rate }, { name, when: "after", rate: group.rate }];
  }));
  const names = [...new Set(values.map((v) => v.name))];
  const title = isClassification(data) ? "share of positive decisions" : "mean score";
  const y = { field: "name", type: "nominal", sort: names, title: null, axis: { labelLimit: innerWidth < 600 ? 130 : 280 } };
  return draw("groups-chart", `${title} of ${names.length} groups, before and after; the tables below hold the numbers.`, {
    height: 24 * names.length,
    data: { values },
    encoding: { y },
    layer: [
      { mark: { type: "line", color: css("--quiet"), opacity: 0.6 }, encoding: { x: { field: "rate", type: "quantitative", title, scale: { zero: false, padding: 12 } }, detail: { field: "name" } } },
      { mark: { type: "point", size: 90, filled: true, opacity: 1 }, encoding: {
        x: { field: "rate", type: "quantitative", title, scale: { zero: false, padding: 12 } },
        color: { field: "when", type: "nominal", title: null, scale: { domain: ["before", "after"], range: [css("--before"), css("--orange")] } },
        shape: { field: "when", type: "nominal", title: null, scale: { domain: ["before", "after"], range: ["square", "circle"] } },
      } },
    ],
  });
}
