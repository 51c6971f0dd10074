// Pointers and keys on the drawing: pan, pinch, wheel, dragging a node, and going from node to node.
import { byId } from './elements.js';
import { choose, on } from './state.js';
import { drawing, drawn, middleOf, moveNode, noteTravel, putBack } from './scene.js';
import { applyCamera, bringIntoView, fit, panBy, seen, zoom } from './camera.js';

const pointers = new Map();
let dragged = null;
let held = 0;

const follow = (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const now = [event.clientX, event.clientY];
  const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
  const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
  if (others.length) {
    const distance = (place) => Math.hypot(place[0] - others[0][0], place[1] - others[0][1]) || 1;
    const frame = drawing.getBoundingClientRect();
    zoom(distance(now) / distance(before), [others[0][0] - frame.left, others[0][1] - frame.top]);
  } else if (dragged === null) panBy(dx, dy);
  else {
    // a click with an unsteady hand moves nothing
    held += Math.abs(dx) + Math.abs(dy);
    if (held > 5) moveNode(dragged, dx / seen.scale, dy / seen.scale);
  }
  noteTravel(Math.abs(dx) + Math.abs(dy));
  pointers.set(event.pointerId, now);
};
const release = (event) => {
  pointers.delete(event.pointerId);
  if (dragged !== null && held > 5) applyCamera();
  dragged = null;
};

// The nearest node in a direction.
const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const nearestNode = (from, [dx, dy]) => {
  const [x, y] = middleOf(from);
  let best = null;
  for (const node of drawn.boxes.keys()) {
    const [ox, oy] = middleOf(node);
    const along = (ox - x) * dx + (oy - y) * dy;
    const across = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    if (node === from || along < 8) continue;
    const cost = along + across * (dx ? 1.5 : 4);
    if (best === null || cost < best.cost) best = { node, cost };
  }
  return best && best.node;
};
export const focusOn = (node, options) => drawn.boxes.get(node).group.focus(options);

const pressed = (event) => {
  const group = event.target.closest('.box');
  const node = group && Number(group.dataset.node);
  if (group && event.key in directions && event.shiftKey) {
    moveNode(node, ...directions[event.key].map((one) => one * 12));
    applyCamera();
  } else if (group && event.key in directions) {
    const next = nearestNode(node, directions[event.key]);
    if (next !== null) focusOn(next);
  } else if (group && (event.key === 'Enter' || event.key === ' ')) choose({ kind: 'node', number: node });
  else if (event.key === '+' || event.key === '=') zoom(1.25);
  else if (event.key === '-') zoom(0.8);
  else if (event.key === '0') fit();
  else return;
  event.preventDefault();
  event.stopPropagation();
};
const focused = (event) => {
  const group = event.target.closest('.box');
  if (!group) return;
  for (const other of drawn.boxes.values()) other.group.setAttribute('tabindex', other.group === group ? 0 : -1);
  if (pointers.size === 0) bringIntoView(Number(group.dataset.node));
};

export const startMoving = () => {
  drawing.addEventListener('pointerdown', (event) => {
    if (pointers.size === 0) {
      noteTravel(0);
      held = 0;
      const group = event.target.closest('.box');
      dragged = group ? Number(group.dataset.node) : null;
    }
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  window.addEventListener('pointermove', follow);
  for (const kind of ['pointerup', 'pointercancel']) window.addEventListener(kind, release);
  drawing.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const frame = drawing.getBoundingClientRect();
      const turn = event.deltaY * (event.deltaMode ? 0.05 : 0.0015);
      zoom(Math.exp(-turn), [event.clientX - frame.left, event.clientY - frame.top]);
    },
    { passive: false },
  );
  drawing.addEventListener('keydown', pressed);
  drawing.addEventListener('focusin', focused);
  byId('put-back').addEventListener('click', () => {
    putBack();
    applyCamera();
  });
  on('view', () => {
    dragged = null;
  });
};
