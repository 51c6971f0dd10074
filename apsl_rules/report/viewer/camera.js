// Zoom and pan: which piece of the drawing is seen, how large, and which names can be read there.
import { byId, data } from './page.js';
import { on, state, view } from './state.js';
import { boxNow, drawing, drawn, middleOf, scene } from './scene.js';

const readable = 0.72; // below this scale names are written larger than their boxes
const letters = 10.5; // their size on the screen then
export const seen = { x: 0, y: 0, scale: 1 };
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
// Write the names that have room, the nearest to the target first; a name that would lie on another one is left out.
const nameWhatFits = () => {
  const order = [...drawn.boxes.keys()].toSorted(
    (one, other) => rank(one) - rank(other) || data.nodes[one].layer - data.nodes[other].layer || one - other,
  );
  const rows = new Map();
  const tall = letters * 1.15;
  for (const node of order) {
    const { box, group } = drawn.boxes.get(node);
    const [x, y] = middleOf(node).map((at) => at * seen.scale);
    const half = widthOf(box.label || data.names[node]) / 2;
    const near = [-1, 0, 1].flatMap((step) => rows.get(Math.floor(y / tall) + step) || []);
    const crowded = near.some((one) => Math.abs(one.x - x) < one.half + half && Math.abs(one.y - y) < tall);
    group.classList.toggle('is-crowded', crowded);
    const row = Math.floor(y / tall);
    if (!crowded) rows.set(row, [...(rows.get(row) || []), { x, y, half }]);
  }
};
const rank = (node) => {
  if (node === data.target) return 0;
  return state.chosen && state.chosen.kind === 'node' && state.chosen.number === node ? 1 : 2;
};

export const applyCamera = () => {
  const [x, y, scale] = [seen.x, seen.y, seen.scale].map((number) => Number(number.toFixed(4)));
  scene.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`);
  const far = seen.scale < readable;
  drawing.classList.toggle('is-far', far);
  scene.style.setProperty('--letters', `${(letters / seen.scale).toFixed(2)}px`);
  if (far) nameWhatFits();
  for (const act of watchers) act();
};

export const fit = () => {
  const [width, height] = stageSize();
  const { width: wide, height: tall } = view();
  seen.scale = Math.min(1.35, width / wide, height / tall);
  seen.x = (width - wide * seen.scale) / 2;
  seen.y = (height - tall * seen.scale) / 2;
  applyCamera();
};
export const zoom = (factor, at) => {
  const [width, height] = stageSize();
  const [x, y] = at || [width / 2, height / 2];
  const scale = Math.min(4, Math.max(0.04, seen.scale * factor));
  seen.x = x - ((x - seen.x) * scale) / seen.scale;
  seen.y = y - ((y - seen.y) * scale) / seen.scale;
  seen.scale = scale;
  applyCamera();
};
export const panBy = (dx, dy) => {
  seen.x += dx;
  seen.y += dy;
  applyCamera();
};
export const lookAtPoint = (x, y) => {
  const [width, height] = stageSize();
  seen.x = width / 2 - x * seen.scale;
  seen.y = height / 2 - y * seen.scale;
  applyCamera();
};
export const focusNode = (node, least = 0.9) => {
  seen.scale = Math.max(seen.scale, least);
  lookAtPoint(...middleOf(node));
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
  window.addEventListener('resize', applyCamera);
  on('view', fit);
  on('chosen', applyCamera);
  fit();
};
