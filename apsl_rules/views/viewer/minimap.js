// A small picture of the whole drawing, with the piece that is seen; it appears when not all of it is seen.
import { byId, sign } from './elements.js';
import { on, view } from './state.js';
import { boxNow, drawn } from './scene.js';
import { lookAtPoint, onCamera, seen, stageSize } from './camera.js';

const map = byId('minimap');
const widest = 170;
const highest = 110;
const boxes = sign('path', { class: 'boxes' });
const piece = sign('rect', { class: 'piece', rx: 4 });
map.append(boxes, piece);

const scaleOf = () => Math.min(widest / view().width, highest / view().height);
const drawBoxes = () => {
  const scale = scaleOf();
  map.setAttribute('width', (view().width * scale).toFixed(0));
  map.setAttribute('height', (view().height * scale).toFixed(0));
  map.setAttribute('viewBox', `0 0 ${view().width} ${view().height}`);
  const one = ({ left, top, width, height }) => `M${left} ${top}h${width}v${height}h${-width}Z`;
  boxes.setAttribute('d', [...drawn.boxes.keys()].map((node) => one(boxNow(node))).join(''));
};
const drawPiece = () => {
  const [width, height] = stageSize();
  const place = {
    x: -seen.x / seen.scale,
    y: -seen.y / seen.scale,
    width: width / seen.scale,
    height: height / seen.scale,
  };
  const slack = 2;
  const all =
    place.x <= slack &&
    place.y <= slack &&
    place.x + place.width >= view().width - slack &&
    place.y + place.height >= view().height - slack;
  map.classList.toggle('is-gone', all);
  for (const [name, value] of Object.entries(place)) piece.setAttribute(name, value.toFixed(1));
  piece.setAttribute('stroke-width', (1.5 / scaleOf()).toFixed(1));
};
const goThere = (event) => {
  const frame = map.getBoundingClientRect();
  lookAtPoint((event.clientX - frame.left) / scaleOf(), (event.clientY - frame.top) / scaleOf());
};

export const startMinimap = () => {
  map.addEventListener('pointerdown', (event) => {
    map.setPointerCapture(event.pointerId);
    goThere(event);
  });
  map.addEventListener('pointermove', (event) => {
    if (map.hasPointerCapture(event.pointerId)) goThere(event);
  });
  on('view', drawBoxes);
  onCamera(drawPiece);
  drawBoxes();
  drawPiece();
};
