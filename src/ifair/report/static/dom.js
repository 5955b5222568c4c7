// Building the page: every text from the data becomes a text node, nothing is ever parsed as HTML.

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; strings and numbers become text. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null).map((c) => (c instanceof Node ? c : String(c))));
  return element;
}

/** Replace what an element holds. */
function fill(id, ...children) {
  const target = typeof id === "string" ? byId(id) : id;
  target.replaceChildren(...children.flat().filter((child) => child != null));
  return target;
}

/** Whether a cell reads as a number: 0.5, −3, 12 %, 0.70 (0.6 to 0.8), 1 / 2, or nothing. */
const isNumber = (value) => typeof value === "number" || value == null || (typeof value === "string" && /^([+−]?[\d.,]+( ?%)?( \(.*\)| \/ [\d., /]+)?|–|)$/.test(value));

/** A table with a caption; cells are text, numbers or elements; `chosen` says which rows are highlighted. */
function table(caption, head, rows, chosen = () => false) {
  const kinds = head.map((_, n) => (rows.every((row) => isNumber(row[n])) ? "number" : rows.some((row) => String(row[n]).length > 60) ? "word long" : "word"));
  // A number stays with its per cent sign.
  const joined = (value, n) => (kinds[n] === "number" && typeof value === "string" ? value.replace(" %", "\u00a0%") : value);
  const cell = (value, n) => (n === 0 ? el("th", { scope: "row" }, value) : el("td", { class: kinds[n] }, joined(value, n) ?? "–"));
  return el(
    "table",
    {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, head.map((name, n) => el("th", { scope: "col", class: kinds[n] }, name)))),
    el("tbody", {}, rows.map((row, i) => el("tr", { class: chosen(i) ? "chosen" : null }, row.map(cell)))),
  );
}

/** A number with so many decimals; a dash where there is none. */
function num(value, decimals = 3) {
  if (value == null) return "–";
  return value.toFixed(decimals).replace("-", "−").replace(/^−(0\.?0*)$/, "$1");
}

/** A number from the data, as short as it can be. */
function short(value) {
  if (typeof value !== "number") return value ?? "(missing)";
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(4)));
}

const percent = (value, decimals = 0) => (value == null ? "–" : `${num(100 * value, decimals)} %`);
const signed = (value, decimals = 3) => (value > 0 ? "+" : "") + num(value, decimals);
const count = (value) => value.toLocaleString("en");
const range = (one, decimals = 3) => `${num(one.low, decimals)} to ${num(one.high, decimals)}`;
const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);
