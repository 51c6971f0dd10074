// The drawing: stripes, edges and boxes where the layout put them or a reader moved them, as they are at a moment.
import { byId, classes, sign } from './elements.js';
import { data, isDrawn } from './page.js';
import { edgeOfFact, edgeSpoken, isSuggested, lastLook, lookAt, looks } from './words.js';
import { choose, edgeOf, on, showView, state, view } from './state.js';
import { circleAt, headPath, routeBetween, wholePath, zigzagAlong } from './geometry.js';
import { stepsUnder } from './proof.js';
import { momentNow } from './moment.js';

export const drawing = byId('drawing');
export const scene = sign('g', { id: 'scene' });
drawing.append(scene);

// What is drawn now: boxes by node, edges by number, titles of stripes and frames; and how far each box was moved, for each view.
export const drawn = { boxes: new Map(), edges: new Map(), titles: [] };
const moves = data.views.map(() => new Map());
let travelled = 0;
export const noteTravel = (distance) => {
  travelled = distance === 0 ? 0 : travelled + distance;
};
const wasDragged = () => travelled > 5;

export const boxNow = (node) => {
  const { box } = drawn.boxes.get(node);
  const [dx, dy] = moves[state.view].get(node) || [0, 0];
  return { left: box.left + dx, top: box.top + dy, width: box.width, height: box.height, home: box };
};
export const middleOf = (node) => {
  const { left, top, width, height } = boxNow(node);
  return [left + width / 2, top + height / 2];
};
export const isMoved = () => moves[state.view].size > 0;

// --- the elements of a view -------------------------------------------------------------------------------------------
const stripe = (band) =>
  sign(
    'g',
    { class: 'band' },
    sign('rect', { x: band.left, y: 12, width: band.right - band.left, height: view().height - 24, rx: 10 }),
    sign('text', { x: (band.left + band.right) / 2, y: 32, 'text-anchor': 'middle' }, band.title),
  );
const frame = ({ left, top, width, height, title }) =>
  sign(
    'g',
    { class: 'frame-of-open' },
    sign('rect', { x: left, y: top, width, height, rx: 8 }),
    sign('text', { x: left + width / 2, y: top + 13, 'text-anchor': 'middle' }, title),
  );

const drawEdge = (route) => {
  const edge = data.edges[route.edge];
  const parts = {
    title: sign('title'),
    hit: sign('path', { class: 'hit' }),
    stroke: sign('path', { class: 'stroke', 'stroke-width': edge.width }),
    heads: [0, 1].map(() => sign('path', { class: 'head' })),
    circles: [0, 1].map(() => sign('circle', { class: 'circle' })),
    cross: sign('g', { class: 'cross' }, sign('circle', { r: 8 }), sign('path', { d: 'M-3.5 -3.5l7 7m0 -7l-7 7' })),
    label: edge.text === undefined ? null : sign('g', { class: 'weight' }),
  };
  const group = sign(
    'g',
    { class: 'drawn-edge', 'data-edge': route.edge },
    parts.title,
    parts.hit,
    parts.stroke,
    ...parts.heads,
    ...parts.circles,
    parts.cross,
  );
  group.addEventListener('click', () => {
    if (!wasDragged()) choose({ kind: 'edge', number: route.edge });
  });
  for (const [kind, pointed] of [
    ['mouseenter', true],
    ['mouseleave', false],
  ]) {
    group.addEventListener(kind, () => parts.label?.classList.toggle('is-pointed', pointed));
  }
  return { edge, route, group, ...parts };
};

// How many edges of the part each node has, among some.
const degrees = (numbers) => {
  const found = new Map();
  for (const edge of numbers.map((number) => data.edges[number])) {
    if (!edge.within || lastLook(edge) === 'none') continue;
    for (const node of edge.ends) found.set(node, (found.get(node) || 0) + 1);
  }
  return found;
};
const degreesInAll = degrees([...data.edges.keys()]);

const drawBox = (box, degreesHere) => {
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const target = box.node === data.target;
  const more = (degreesInAll.get(box.node) || 0) - (degreesHere.get(box.node) || 0);
  const group = sign(
    'g',
    {
      class: 'box',
      'data-node': box.node,
      tabindex: target ? 0 : -1,
      role: 'button',
      'aria-label': data.names[box.node],
    },
    sign('title', {}, data.names[box.node]),
    sign('rect', { x: box.left, y: box.top, width: box.width, height: box.height, rx: 7 }),
    sign('text', { x, y, dy: '0.35em', 'text-anchor': 'middle' }, box.label || data.names[box.node]),
    more > 0 ? moreSign(box, more) : null,
  );
  group.addEventListener('click', () => {
    if (!wasDragged()) choose({ kind: 'node', number: box.node });
  });
  return { box, group };
};
const moreSign = (box, more) => {
  const isLeft = box.left < view().boxes.find(({ node }) => node === data.target).left;
  const [x, y] = [isLeft ? box.left - 18 : box.left + box.width + 18, box.top + box.height / 2];
  const made = sign(
    'g',
    { class: classes('more-here', isLeft && 'is-left') },
    sign('title', {}, `${more} more around it: show one drawing further`),
    sign('rect', { x: x - 13, y: y - 7.5, width: 26, height: 15, rx: 7.5 }),
    sign('text', { x, y, dy: '0.35em', 'text-anchor': 'middle' }, `+${more}`),
  );
  made.addEventListener('click', (event) => {
    event.stopPropagation();
    if (!wasDragged()) showView(state.view + 1);
  });
  return made;
};

const build = () => {
  const { bands, frames, boxes, routes } = view();
  drawn.edges = new Map(routes.map((route) => [route.edge, drawEdge(route)]));
  const degreesHere = degrees([...drawn.edges.keys()]);
  drawn.boxes = new Map(boxes.map((box) => [box.node, drawBox(box, degreesHere)]));
  const [stripes, framed] = [bands.map(stripe), frames.map(frame)];
  const title = (group, words, left, right, y) => ({ group, words, at: [(left + right) / 2, y] });
  drawn.titles = [
    ...bands.map(({ title: words, left, right }, at) => title(stripes[at], words, left, right, 28)),
    ...frames.map(({ title: words, left, width, top }, at) => title(framed[at], words, left, left + width, top + 9)),
  ];
  scene.replaceChildren(
    ...stripes,
    ...framed,
    ...[...drawn.edges.values()].map(({ group }) => group),
    ...[...drawn.edges.values()].flatMap(({ label }) => label || []),
    ...[...drawn.boxes.values()].map(({ group }) => group),
  );
  for (const node of drawn.boxes.keys()) shift(node);
  for (const number of drawn.edges.keys()) lead(number);
};

// --- where boxes and edges are ----------------------------------------------------------------------------------------
const shift = (node) => {
  const move = moves[state.view].get(node);
  const { group } = drawn.boxes.get(node);
  if (move) group.setAttribute('transform', `translate(${move.join(' ')})`);
  else group.removeAttribute('transform');
};
const lead = (number) => {
  const one = drawn.edges.get(number);
  const moved = one.edge.ends.some((node) => moves[state.view].has(node));
  one.path = moved ? routeBetween(one.route, one.edge.ends.map(boxNow)) : one.route;
  one.hit.setAttribute('d', `M${one.path.body}`);
  [one.path.start, one.path.end].forEach((port, at) => {
    one.heads[at].setAttribute('d', headPath(port));
    for (const [name, value] of Object.entries(circleAt(port))) one.circles[at].setAttribute(name, value);
  });
  if (one.edge.looks.some(({ look }) => looks[look].kind === 'conflict')) {
    const middle = one.hit.getPointAtLength(one.hit.getTotalLength() / 2);
    one.cross.setAttribute('transform', `translate(${middle.x.toFixed(1)} ${middle.y.toFixed(1)})`);
    one.zigzag = zigzagAlong(one.hit);
  }
  if (one.label) placeLabel(one, moved);
};
const placeLabel = (one, moved) => {
  const { edge, route, hit, label } = one;
  const tall = 15;
  const place = moved || !route.label ? null : route.label;
  const width = place ? place.width : edge.text.length * 7 + 6;
  const point = place ? null : hit.getPointAtLength(hit.getTotalLength() / 2);
  const [left, top] = place ? [place.left, place.top] : [point.x - width / 2, point.y - tall / 2];
  one.labelAt = [left + width / 2, top + tall / 2];
  label.replaceChildren(
    sign('rect', { x: left.toFixed(1), y: top.toFixed(1), width: width.toFixed(1), height: tall, rx: 4 }),
    sign(
      'text',
      { x: (left + width / 2).toFixed(1), y: (top + tall / 2).toFixed(1), dy: '0.36em', 'text-anchor': 'middle' },
      edge.text,
    ),
  );
};
const followEdges = (node) => {
  for (const [number, { edge }] of drawn.edges) if (edge.ends.includes(node)) lead(number);
};
export const moveNode = (node, dx, dy) => {
  const [x, y] = moves[state.view].get(node) || [0, 0];
  moves[state.view].set(
    node,
    [x + dx, y + dy].map((one) => Number(one.toFixed(1))),
  );
  shift(node);
  followEdges(node);
  redraw();
};
export const putBack = () => {
  const moved = [...moves[state.view].keys()];
  moves[state.view].clear();
  moved.forEach(shift);
  moved.forEach(followEdges);
  redraw();
};

// --- what is seen at a moment -----------------------------------------------------------------------------------------
const drawEdgeAt = (number, one, focus, moment) => {
  const seen = lookAt(one.edge, state.position);
  const look = looks[seen];
  const lit = focus.edges.has(number);
  const shared = classes(
    `is-${look.kind}`,
    !one.edge.within && 'is-beyond',
    one.edge.doubtful && 'is-doubtful',
    seen === 'none' && 'is-gone',
    number === focus.edge && 'is-chosen',
    focus.dims && !lit && !moment.edges.has(number) && 'is-dim',
    focus.dims && lit && 'is-lit',
  );
  one.group.setAttribute('data-look', seen);
  one.group.setAttribute(
    'class',
    classes(
      'drawn-edge',
      shared,
      isSuggested(seen) && 'is-suggested',
      moment.edges.has(number) && 'is-now',
      focus.proof.has(number) && 'is-premise',
    ),
  );
  const kept = ['is-crowded', 'is-pointed'].filter((name) => one.label?.classList.contains(name));
  one.label?.setAttribute('class', classes('weight', shared, !one.route.label && 'is-tight', ...kept));
  if (seen === 'none') return;
  one.stroke.setAttribute('d', wholePath(one.path, look.kind === 'conflict' ? one.zigzag : one.path.body, look));
  [look.start, look.end].forEach((shape, at) => {
    one.heads[at].classList.toggle('is-gone', shape !== 'head');
    one.circles[at].classList.toggle('is-gone', shape !== 'circle');
  });
  one.cross.classList.toggle('is-gone', look.kind !== 'conflict');
  const figure = one.edge.text === undefined ? '' : `, ${one.edge.text}`;
  one.title.textContent = edgeSpoken(one.edge, seen) + figure;
};
const redraw = () => {
  const moment = momentNow();
  const focus = highlighted();
  const known = new Set([data.target, ...moment.visited]);
  for (const [number, one] of drawn.edges) {
    drawEdgeAt(number, one, focus, moment);
    if (lookAt(one.edge, state.position) !== 'none') for (const node of one.edge.ends) known.add(node);
  }
  for (const [node, { group }] of drawn.boxes) {
    group.setAttribute(
      'class',
      classes(
        'box',
        node === data.target && 'is-target',
        !data.nodes[node].within && 'is-beyond',
        moment.visited.has(node) && 'is-visited',
        node === moment.node && 'is-now',
        !known.has(node) && 'is-unknown',
        focus.node === node && 'is-chosen',
        focus.dims && !focus.nodes.has(node) && node !== moment.node && 'is-dim',
        group.classList.contains('is-crowded') && 'is-crowded',
      ),
    );
    group.setAttribute('aria-pressed', String(focus.node === node));
  }
  byId('put-back').hidden = !isMoved();
};

// What stands out: a chosen node with its neighbours, or a chosen edge with the edges that its proof speaks of.
const highlighted = () => {
  const focus = { edge: null, node: null, edges: new Set(), nodes: new Set(), proof: new Set(), dims: false };
  const { chosen } = state;
  if (chosen === null) return focus;
  focus.dims = true;
  if (chosen.kind === 'node') {
    focus.node = chosen.number;
    focus.nodes.add(chosen.number);
    data.edges.forEach((edge, number) => {
      if (!edge.ends.includes(chosen.number) || !drawn.edges.has(number) || lookAt(edge, state.position) === 'none')
        return;
      focus.edges.add(number);
      for (const node of edge.ends) focus.nodes.add(node);
    });
    return focus;
  }
  focus.edge = edgeOf(chosen);
  const edge = data.edges[focus.edge];
  const roots = chosen.kind === 'edge' ? [edge.proof, edge.other] : data.conflicts[chosen.number].sides;
  for (const step of stepsUnder(roots)) {
    const { fact } = data.steps[step];
    const other = edgeOfFact(fact);
    if (other !== undefined && other !== focus.edge) focus.proof.add(other);
    for (const node of data.facts[fact].nodes.filter(isDrawn)) focus.nodes.add(node);
  }
  if (edge) for (const node of edge.ends) focus.nodes.add(node);
  focus.edges = new Set([...focus.proof, focus.edge]);
  return focus;
};

export const startScene = () => {
  on('view', () => {
    build();
    redraw();
  });
  on('chosen', redraw);
  on('moment', redraw);
  build();
};
