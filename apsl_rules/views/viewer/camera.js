// Zoom and pan: which piece of the drawing is seen, how large, and which names can be read there.
import { byId } from './elements.js';
import { data } from './page.js';
import { on, state, view } from './state.js';
import { boxNow, drawing, drawn, middleOf, scene } from './scene.js';

const readable = 0.7; // below this scale names are written larger than their boxes
const tiny = 0.45; // below this one edges are faint
const letters = 9.6; // their size on the screen then
const rim = 14; // free on the left and on the right of a drawing that fits
export const seen = { x: 0, y: 0, scale: 1, fitted: true };
const watchers = [];
export const onCamera = (act) => watchers.push(act);
export const stageSize = () => {
  const { width, height } = drawing.getBoundingClientRect();
  return [width, height];
};

// --- names in a small drawing -----------------------------------------------------------------------------------------
const measure = document.createElement('canvas').getContext('2d');
const widths = new Map();
const widthOf = (text) => {
  if (!widths.has(text)) {
    measure.font = `${letters}px system-ui, sans-serif`;
    widths.set(text, measure.measureText(text).width + 4);
  }
  return widths.get(text);
};
// What is written in the drawing, the most telling first: names, the nearest to the target before others, then figures
// and titles; each with its words and its middle on the sheet.
const writings = () => {
  const names = [...drawn.boxes].map(([node, { box, group }]) => {
    const words = box.label || data.names[node];
    return {
      group,
      words,
      shorter: shortened(words),
      at: middleOf(node),
      rank: rankOf(node),
      next: data.nodes[node].layer,
    };
  });
  const lit = ({ group }) => group.classList.contains('is-lit') || group.classList.contains('is-chosen');
  const figures = [...drawn.edges.values()]
    .filter(({ label, group }) => label && !group.classList.contains('is-gone'))
    .map((one) => ({ group: one.label, words: one.edge.text, at: one.labelAt, rank: lit(one) ? 2 : 4, next: 0 }));
  const titles = drawn.titles.map(({ group, words, at }) => ({ group, words, at, rank: 3, next: 0 }));
  return [...names, ...figures, ...titles].toSorted((one, other) => one.rank - other.rank || one.next - other.next);
};
// Write what has room; a long name that would lie on others is cut, and what still has no room is left out.
const writeWhatFits = () => {
  const rows = new Map();
  const tall = letters * 1.2;
  for (const { group, words, shorter, at } of writings()) {
    const [x, y] = at.map((one) => one * seen.scale);
    const row = Math.floor(y / tall);
    const near = [-1, 0, 1].flatMap((step) => rows.get(row + step) || []);
    const isFree = (half) => near.every((one) => Math.abs(one.x - x) >= one.half + half || Math.abs(one.y - y) >= tall);
    const fitting = [words, shorter].filter(Boolean).find((one) => isFree(widthOf(one) / 2));
    group.classList.toggle('is-crowded', fitting === undefined);
    if (fitting === undefined) continue;
    if (shorter) group.querySelector('text').textContent = fitting;
    rows.set(row, [...(rows.get(row) || []), { x, y, half: widthOf(fitting) / 2 }]);
  }
};
const shortened = (words) => {
  const signs = [...words];
  return signs.length > 9 ? `${signs.slice(0, 5).join('')}…${signs.slice(-3).join('')}` : null;
};
export const writeInFull = () => {
  drawing.classList.remove('is-far', 'is-tiny');
  for (const [node, { box, group }] of drawn.boxes) {
    group.querySelector('text').textContent = box.label || data.names[node];
  }
};
const rankOf = (node) => {
  if (node === data.target) return 0;
  return state.chosen && state.chosen.kind === 'node' && state.chosen.number === node ? 1 : 2;
};

const place = () => {
  const [x, y, scale] = [seen.x, seen.y, seen.scale].map((number) => Number(number.toFixed(4)));
  scene.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`);
  for (const act of watchers) act();
};
// Show the drawing at its place and scale, with the names that have room there.
export const applyCamera = () => {
  const far = seen.scale < readable;
  if (!far && drawing.classList.contains('is-far')) writeInFull();
  drawing.classList.toggle('is-far', far);
  drawing.classList.toggle('is-tiny', seen.scale < tiny);
  scene.style.setProperty('--letters', `${(letters / seen.scale).toFixed(2)}px`);
  scene.style.setProperty('--grow', Math.max(1, 0.9 / seen.scale).toFixed(3));
  if (far) writeWhatFits();
  place();
};

export const fit = () => {
  const [width, height] = stageSize();
  const { width: wide, height: tall } = view();
  seen.scale = Math.min(2, (width - 2 * rim) / wide, height / tall);
  seen.x = (width - wide * seen.scale) / 2;
  seen.y = (height - tall * seen.scale) / 2;
  seen.fitted = true;
  applyCamera();
};
export const zoom = (factor, at) => {
  const [width, height] = stageSize();
  const [x, y] = at || [width / 2, height / 2];
  const scale = Math.min(4, Math.max(0.04, seen.scale * factor));
  seen.x = x - ((x - seen.x) * scale) / seen.scale;
  seen.y = y - ((y - seen.y) * scale) / seen.scale;
  seen.scale = scale;
  seen.fitted = false;
  applyCamera();
};
export const panBy = (dx, dy) => {
  seen.x += dx;
  seen.y += dy;
  seen.fitted = false;
  place();
};
export const lookAtPoint = (x, y) => {
  const [width, height] = stageSize();
  seen.x = width / 2 - x * seen.scale;
  seen.y = height / 2 - y * seen.scale;
  seen.fitted = false;
  place();
};
export const focusNode = (node, least = 0.9) => {
  seen.scale = Math.max(seen.scale, least);
  lookAtPoint(...middleOf(node));
  applyCamera();
};
export const bringIntoView = (node) => {
  const [width, height] = stageSize();
  const box = boxNow(node);
  const [left, top] = [box.left * seen.scale + seen.x, box.top * seen.scale + seen.y];
  const [right, bottom] = [left + box.width * seen.scale, top + box.height * seen.scale];
  if (left < 0 || top < 0 || right > width || bottom > height) focusNode(node, 0.5);
};

export const startCamera = () => {
  byId('closer').addEventListener('click', () => zoom(1.25));
  byId('farther').addEventListener('click', () => zoom(0.8));
  byId('fit').addEventListener('click', fit);
  new ResizeObserver(() => (seen.fitted ? fit() : applyCamera())).observe(drawing);
  on('view', fit);
  on('chosen', applyCamera);
  on('moment', applyCamera);
  fit();
};
