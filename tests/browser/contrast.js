// Texts on this page with a contrast below 4.5 against what is behind them (WCAG AA).
const light = (colour) => {
  const [r, g, b] = colour.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const colour = (text) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const behind = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const found = colour(getComputedStyle(e).backgroundColor);
    if (found[3] === 255) return found;
  }
  return [255, 255, 255, 255];
};
const bad = [];
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || e.closest("script, .sr, .skip")) continue;
  const svg = e.closest("svg");
  const ink = colour(getComputedStyle(e)[svg ? "fill" : "color"]);
  const paper = behind(svg ? svg.parentElement : e);
  const [a, b] = [light(ink.slice(0, 3)), light(paper.slice(0, 3))].sort((x, y) => y - x);
  const contrast = (a + 0.05) / (b + 0.05);
  if (contrast < 4.5) bad.push([e.tagName, e.textContent.slice(0, 30), contrast]);
}
return bad;
