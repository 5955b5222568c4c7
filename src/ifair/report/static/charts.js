// Two drawings. They are as wide as their place, in pixels, so that a tick stands where its number belongs.

/** Round numbers between two ends, about so many. */
function ticksOf([low, high], wanted) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) found.push([n * step, num(n * step, decimals)]);
  return found;
}

/** From one end to the other of some numbers, with a margin. */
function domainOf(values, margin = 0.08) {
  const known = values.filter((v) => v != null), low = Math.min(...known), high = Math.max(...known);
  const space = margin * (high - low) || 0.01;
  return [low - space, high + space];
}

const scaleOf = ([low, high], from, to) => (value) => from + ((to - from) * (value - low)) / (high - low);

function drawInto(id, height, label, ...children) {
  const target = byId(id), width = Math.max(240, target.clientWidth);
  fill(target, svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label }, ...children));
}

/** A marker: square for the full data, diamond for deleting, circle for ours; hollow for what is beside them. */
function marker(role, x, y, attributes = {}) {
  const size = 6, shape = { full: "rect", deleted: "path", penalised: "path" }[role] ?? "circle";
  const place = { rect: { x: x - size, y: y - size, width: 2 * size, height: 2 * size }, circle: { cx: x, cy: y, r: size }, path: { d: `M${x} ${y - 8}l8 8l-8 8l-8 -8z` } }[shape];
  return svg(shape, { class: `mark ${role}`, ...place, ...attributes });
}

const IN_PICTURES = { full: "full data", deleted: "deleted", penalised: "with penalty", ours: "ours" };
const PLACES = [[12, -9, "start"], [12, 18, "start"], [-12, -9, "end"], [-12, 18, "end"], [12, 4, "start"], [-12, 4, "end"], [0, -13, "middle"], [0, 22, "middle"], [12, 34, "start"], [12, -26, "start"], [-12, 34, "end"], [-12, -26, "end"]];

/** Where each label covers least of the markers and of other labels; long ones choose first. */
function placeLabels(marks, width) {
  const taken = marks.map((m) => [m.x - 8, m.y - 8, m.x + 8, m.y + 8]);
  const covered = (a) => taken.reduce((sum, b) => sum + Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1])), 0);
  for (const mark of [...marks].sort((a, b) => b.text.length - a.text.length)) {
    const w = 7 * mark.text.length + 6;
    const boxes = PLACES.map(([dx, dy, anchor]) => {
      const left = mark.x + dx - { start: 0, end: w, middle: w / 2 }[anchor], box = [left, mark.y + dy - 12, left + w, mark.y + dy + 4];
      return { x: mark.x + dx, y: mark.y + dy, anchor, box, cost: covered(box) + (left < 0 || left + w > width ? 1e6 : 0) };
    });
    mark.label = boxes.reduce((best, one) => (one.cost < best.cost ? one : best));
    taken.push(mark.label.box);
  }
}

/** Points that would hide each other are one mark with all their letters. */
function gatherMarks(data, now, x, y) {
  const places = [];
  for (const p of data.points) {
    if (p.test.utility.estimate == null || p.test.ranks?.estimate == null) continue;
    const [px, py] = [x(p.test.utility.estimate), y(p.test.ranks.estimate)];
    const near = places.find((place) => Math.hypot(place.px - px, place.py - py) < 13);
    if (near) near.points.push(p); else places.push({ px, py, points: [p] });
  }
  return places.map(({ points }) => {
    const first = points.find((p) => p.id === now.id) ?? points.find((p) => p.role in ROLES) ?? points[0];
    const named = points.some((p) => p.id === now.id || p.role in ROLES);
    const others = points.filter((p) => p !== first).map((p) => `, ${p.label}`).join("");
    const text = `${first.label}${named ? ` ${isInUse(first) ? "in use" : IN_PICTURES[first.role] ?? shortName(first)}` : ""}${others}`;
    return { points, first, text, x: x(first.test.utility.estimate), y: y(first.test.ranks.estimate) };
  });
}

/** The best reachable at each utility: a staircase, with the band of its interval. */
function frontShapes(front, x, y, left) {
  const steps = front.map((one, i) => ({ ...one, from: i ? x(front[i - 1].utility) : left, to: x(one.utility) }));
  const edge = (value) => steps.flatMap((s) => [[s.from, y(s[value])], [s.to, y(s[value])]]);
  const line = (places) => places.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
  return [
    svg("polygon", { class: "band", points: line([...edge("low"), ...edge("high").reverse()]) }),
    svg("polyline", { class: "front", points: line(edge("best")) }),
  ];
}

function drawTradeOff(data, now, choose) {
  const shown = data.points.filter((p) => p.test.utility.estimate != null && p.test.ranks?.estimate != null);
  const front = data.front ?? [], deleted = roleOf(data, "deleted");
  byId("trade-off-chart").hidden = shown.length === 0;
  if (!shown.length) return;
  const width = Math.max(240, byId("trade-off-chart").clientWidth), height = width < 500 ? 300 : 340;
  const [left, right, top, bottom] = [44, width - 8, 24, height - 44];
  const ends = [now, deleted].filter(Boolean);
  const of = (measure) => [...shown.map((p) => p.test[measure].estimate), ...ends.flatMap((p) => [p.test[measure]?.low, p.test[measure]?.high])];
  const domains = [domainOf(of("utility")), domainOf(of("ranks"))];
  const x = scaleOf(domains[0], left, right), y = scaleOf(domains[1], bottom, top);
  const marks = gatherMarks(data, now, x, y);
  placeLabels(marks, width);
  const whiskers = ends.flatMap((p) => {
    const { utility: u, ranks: r } = p.test, kind = { class: `whisker ${p.role}` };
    if (u.low == null || r?.low == null) return [];
    return [svg("line", { ...kind, x1: x(u.low), x2: x(u.high), y1: y(r.estimate), y2: y(r.estimate) }), svg("line", { ...kind, x1: x(u.estimate), x2: x(u.estimate), y1: y(r.low), y2: y(r.high) })];
  });
  const clip = svg("clipPath", { id: "plot" }, svg("rect", { x: left, y: top, width: right - left, height: bottom - top }));
  drawInto("trade-off-chart", height, `${shown.length} points by ${data.utility.name} and consistency of ranks; shown: ${pointName(now)}. The table below holds the numbers.`,
    svg("defs", {}, clip),
    ticksOf(domains[0], Math.max(4, width / 110)).map(([v, text]) => [svg("line", { class: "grid", x1: x(v), x2: x(v), y1: top, y2: bottom }), svg("text", { class: "quiet tick", x: x(v), y: bottom + 16, "text-anchor": "middle", "data-at": x(v) }, text)]).flat(),
    ticksOf(domains[1], 5).map(([v, text]) => [svg("line", { class: "grid", x1: left, x2: right, y1: y(v), y2: y(v) }), svg("text", { class: "quiet", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, text)]).flat(),
    svg("text", { class: "quiet", x: right, y: height - 8, "text-anchor": "end" }, `${data.utility.name}: more useful →`),
    svg("text", { class: "quiet", x: 0, y: 12 }, "↑ like people ranked more alike"),
    front.length > 1 ? svg("g", { "clip-path": "url(#plot)" }, frontShapes(front, x, y, left)) : null,
    whiskers,
    marks.map((m) => svg("g", { class: `pick${m.first.id === now.id ? " chosen" : ""}`, "data-points": m.points.map((p) => p.id).join(" "), onclick: () => choose(nextOf(m.points, now)) },
      m.first.id === now.id ? svg("circle", { class: "ring", cx: m.x, cy: m.y, r: 11 }) : null,
      marker(m.first.role, m.x, m.y),
      svg("title", {}, m.points.map((p) => `${p.label} · ${p.name}\n${data.utility.name} ${num(p.test.utility.estimate)}, consistency of ranks ${num(p.test.ranks.estimate)}`).join("\n")),
      svg("text", { x: m.label.x, y: m.label.y, "text-anchor": m.label.anchor }, m.text))));
}

/** Of several points at one place a click goes from one to the next. */
const nextOf = (points, now) => points[(points.findIndex((p) => p.id === now.id) + 1) % points.length].id;

/** For each group its rate with the full data, with the columns deleted, and with the point shown. */
function drawGroups(data, partition, points) {
  const row = 44, names = partition.groups.map((g) => g.label);
  const rateOf = (p, label) => p.groups.find((g) => g.partition === partition.partition)?.groups.find((g) => g.label === label)?.rate;
  const rates = points.flatMap((p) => names.map((label) => rateOf(p, label)));
  const width = Math.max(240, byId("groups-chart").clientWidth), height = row * names.length + 34;
  const domain = domainOf(rates, 0.1), x = scaleOf(domain, 14, width - 14), bottom = height - 30;
  const write = (v) => (isClassification(data) ? percent(v) : short(v, 3));
  drawInto("groups-chart", height, `${listed(names.map((label) => `${label} ${write(rateOf(points.at(-1), label))}`))}.`,
    ticksOf(domain, Math.max(4, width / 120)).map(([v]) => [svg("line", { class: "grid", x1: x(v), x2: x(v), y1: 26, y2: bottom }), svg("text", { class: "quiet tick", x: x(v), y: bottom + 16, "text-anchor": "middle", "data-at": x(v) }, write(v))]).flat(),
    partition.groups.map((group, i) => {
      const y = row * i + 34, found = points.map((p) => [p, rateOf(p, group.label)]).filter(([, rate]) => rate != null);
      const said = found.slice(width < 500 ? -1 : 0).flatMap(([p, rate], n) => [n ? "\u2002" : "", svg("tspan", { class: `value ${p.role}` }, `${p.label} ${write(rate)}`)]);
      return svg("g", {},
        svg("text", { x: 0, y: y - 14 }, `${group.label} (${many(group.n, "person", "people")})`),
        svg("text", { x: width, y: y - 14, "text-anchor": "end" }, said),
        svg("line", { class: "axis", opacity: 0.5, x1: Math.min(...found.map(([, r]) => x(r))), x2: Math.max(...found.map(([, r]) => x(r))), y1: y, y2: y }),
        found.map(([p, rate]) => marker(p.role, x(rate), y)));
    }));
}
