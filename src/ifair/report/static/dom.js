// Building the page: every text from the data becomes a text node, nothing is ever parsed as HTML.

const byId = (id) => document.getElementById(id);

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null).map((c) => (c instanceof Node ? c : String(c))));
  return element;
}

/** An element with attributes and children; strings and numbers become text. */
const el = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);

/** The same for a drawing. */
const svg = (tag, attributes = {}, ...children) => build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Replace what an element holds. */
function fill(id, ...children) {
  const target = typeof id === "string" ? byId(id) : id;
  target.replaceChildren(...children.flat().filter((child) => child != null));
  return target;
}

const say = (id, ...sentences) => { byId(id).textContent = sentences.flat().filter(Boolean).join(" "); };

/** Whether a cell reads as a number: 0.5, −3, 12 %, 1 / 2, or nothing. */
const isNumber = (value) => typeof value === "number" || value == null || (typeof value === "string" && /^([+−]?[\d.,]+(\s?%)?|–|)$/.test(value));

/** A table with a caption; cells are text, numbers or elements; `chosen` says which rows are highlighted. */
function table(caption, head, rows, chosen = () => false) {
  const kinds = head.map((_, n) => (n > 0 && rows.length && rows.every((row) => isNumber(row[n]) || row[n]?.dataset?.number) ? "number" : rows.some((row) => String(row[n]?.dataset ? "" : row[n]).length > 30) ? "long" : null));
  const cell = (value, n) => (n === 0 ? el("th", { scope: "row" }, value) : el("td", { class: kinds[n] }, value ?? "–"));
  return el("table", {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, head.map((name, n) => el("th", { scope: "col", class: kinds[n] }, name)))),
    el("tbody", {}, rows.map((row, i) => el("tr", { class: chosen(i) ? "chosen" : null }, row.map(cell)))));
}

/** A number with so many decimals, fewer where it is large; a dash where there is none. */
function num(value, decimals = 3) {
  if (value == null) return "–";
  const size = Math.abs(value), most = size < 10 ? decimals : size < 100 ? 2 : size < 1000 ? 1 : 0;
  if (!most && size >= 1000) return Math.round(value).toLocaleString("en").replace("-", "−");
  return value.toFixed(Math.min(decimals, most)).replace("-", "−").replace(/^−(0\.?0*)$/, "$1");
}

/** A number from the data, as short as it can be. */
function short(value, digits = 4) {
  if (typeof value !== "number") return value ?? "(missing)";
  return Number.isInteger(value) ? value.toLocaleString("en") : Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 6 }).replace("-", "−");
}

const percent = (value, decimals = 0) => (value == null ? "–" : `${num(100 * value, decimals)}\u00a0%`);
const signed = (value, write = num) => (value == null ? "–" : (value > 0 ? "+" : "") + write(value));
const count = (value) => value.toLocaleString("en");
const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;
const quoted = (name) => `“${name}”`;
const listed = (names, last = "and") => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${last} ${names.at(-1)}`);

/** A value with its interval below it. */
function withRange(text, low, high, write) {
  if (low == null || high == null || low === high) return el("span", { "data-number": "1" }, text);
  return el("span", { "data-number": "1" }, text, el("small", {}, `${write.bare(low)} to ${write.bare(high)}${write.unit}`));
}
