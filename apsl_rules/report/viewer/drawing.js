// The drawing: stripes, edges and boxes where the layout put them; zoom, pan and moving between nodes.
const drawing = byId('drawing');
const scene = sign('g', { id: 'scene' });
const view = { x: 0, y: 0, scale: 1 };

const stripes = data.bands.map((band) => sign('g', { class: band.within ? 'band' : 'band is-beyond' },
  sign('rect', { x: band.left, y: 12, width: band.right - band.left, height: data.size[1] - 24, rx: 10 }),
  sign('text', { x: (band.left + band.right) / 2, y: 32, 'text-anchor': 'middle' }, band.title)));

const drawnEdges = data.edges.map((edge, number) => {
  const [x, y] = edge.middle;
  const parts = {
    hit: sign('path', { class: 'hit' }),
    stroke: sign('path', { class: 'stroke', 'stroke-width': edge.width }),
    heads: edge.heads.map((d) => sign('path', { class: 'head', d })),
    circles: edge.circles.map(([cx, cy]) => sign('circle', { class: 'circle', cx, cy, r: data.radius })),
    cross: sign('g', { class: 'cross', transform: `translate(${x} ${y})` },
      sign('circle', { r: 8 }), sign('path', { d: 'M-3.5 -3.5l7 7m0 -7l-7 7' })),
    title: sign('title'),
  };
  const weight = edge.weight === null ? null
    : sign('text', { class: 'weight', x, y: y - 6, 'text-anchor': 'middle' }, edge.weight);
  const group = sign('g', { class: 'drawn-edge', 'data-edge': number },
    parts.title, parts.hit, parts.stroke, ...parts.heads, ...parts.circles, parts.cross, weight);
  group.addEventListener('click', () => { if (!wasDragged()) choose({ kind: 'edge', number }); });
  return { edge, group, ...parts };
});

const boxes = data.boxes.map((box, number) => {
  const group = sign('g', {
    class: 'box', 'data-node': number, tabindex: number === data.target ? 0 : -1, role: 'button',
    'aria-label': data.names[number],
  },
    sign('title', {}, data.names[number]),
    sign('rect', { x: box.left, y: box.top, width: box.width, height: box.height, rx: 7 }),
    sign('text', { x: box.left + box.width / 2, y: box.top + box.height / 2, dy: '0.35em', 'text-anchor': 'middle' },
      box.label));
  group.addEventListener('click', () => { if (!wasDragged()) choose({ kind: 'node', number }); });
  group.addEventListener('focus', () => {
    for (const other of boxes) other.group.setAttribute('tabindex', other.group === group ? 0 : -1);
    bringIntoView(number);
  });
  return { box, group };
});

scene.append(...stripes, ...drawnEdges.map((drawn) => drawn.group), ...boxes.map((one) => one.group));
drawing.append(scene);

// --- what is seen at a moment -----------------------------------------------------------------------------------------
const isHidden = (within) => !within && !state.beyond;
const classes = (...names) => names.filter(Boolean).join(' ');

const startsWithHead = new Set(['back', 'maybe back', 'both', 'partial back', 'two heads']);
const endsWithHead = new Set(['ahead', 'maybe ahead', 'both', 'partial ahead', 'two heads']);
const startsWithCircle = new Set(['partial ahead', 'open']);
const endsWithCircle = new Set(['partial back', 'open']);
const pathOf = (edge, look) => {
  const contradicted = look === 'both' || look === 'conflict';
  const body = contradicted ? edge.zigzag : edge.body;
  const [start, end] = edge.ports;
  const begins = startsWithHead.has(look) || startsWithCircle.has(look) ? 'M' : `M${start.join(' ')}L`;
  const ends = endsWithHead.has(look) || endsWithCircle.has(look) ? '' : `L${end.join(' ')}`;
  return begins + body + ends;
};

const drawMoment = (moment) => {
  const focus = highlighted();
  const known = new Set([data.target, ...moment.visited]);
  drawnEdges.forEach((drawn, number) => {
    const { edge } = drawn;
    const look = lookAt(edge, state.position);
    const seen = look !== 'none' && !isHidden(edge.within);
    drawn.group.setAttribute('data-look', seen ? look : 'none');
    drawn.group.setAttribute('class', classes('drawn-edge', `is-${looksLike[look]}`, isSuggested(look) && 'is-suggested', !edge.within && 'is-beyond',
      !seen && 'is-gone', number === focus.edge && 'is-chosen', moment.edges.has(number) && 'is-now',
      focus.dims && !focus.edges.has(number) && !moment.edges.has(number) && 'is-dim', focus.proof.has(number) && 'is-premise'));
    if (!seen) return;
    edge.ends.forEach((node) => known.add(node));
    drawn.hit.setAttribute('d', `M${edge.body}`);
    drawn.stroke.setAttribute('d', pathOf(edge, look));
    drawn.heads[0].classList.toggle('is-gone', !startsWithHead.has(look));
    drawn.heads[1].classList.toggle('is-gone', !endsWithHead.has(look));
    drawn.circles[0].classList.toggle('is-gone', !startsWithCircle.has(look));
    drawn.circles[1].classList.toggle('is-gone', !endsWithCircle.has(look));
    drawn.cross.classList.toggle('is-gone', look !== 'both' && look !== 'conflict');
    drawn.title.textContent = edgeSpoken(edge, look);
  });
  boxes.forEach(({ box, group }, number) => {
    group.setAttribute('class', classes('box', number === data.target && 'is-target', !box.within && 'is-beyond',
      isHidden(box.within) && 'is-gone', moment.visited.has(number) && 'is-visited', number === moment.node && 'is-now',
      !known.has(number) && 'is-unknown', focus.node === number && 'is-chosen',
      focus.dims && !focus.nodes.has(number) && number !== moment.node && 'is-dim'));
    group.setAttribute('aria-pressed', String(focus.node === number));
  });
  stripes.forEach((stripe, number) => stripe.classList.toggle('is-gone', isHidden(data.bands[number].within)));
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
      if (!edge.ends.includes(chosen.number) || lookAt(edge, state.position) === 'none') return;
      focus.edges.add(number);
      edge.ends.forEach((node) => focus.nodes.add(node));
    });
    return focus;
  }
  const edge = chosen.kind === 'edge' ? chosen.number : data.conflicts[chosen.number].edge;
  focus.edge = edge;
  const roots = chosen.kind === 'edge' ? [data.edges[edge].proof, data.edges[edge].other] : data.conflicts[chosen.number].sides;
  const facts = stepsUnder(roots).map((step) => data.steps[step][0]);
  for (const fact of facts) {
    const other = edgeOfFact(fact);
    if (other !== undefined && other !== edge) focus.proof.add(other);
    data.facts[fact].slice(1).filter(isDrawn).forEach((node) => focus.nodes.add(node));
  }
  focus.edges = new Set([...focus.proof, edge]);
  return focus;
};

// --- zoom and pan -----------------------------------------------------------------------------------------------------
const applyView = () => {
  const [x, y, scale] = [view.x, view.y, view.scale].map((number) => Number(number.toFixed(4)));
  scene.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`);
  drawing.classList.toggle('is-far', view.scale < 0.42);
};
const seenSize = () => {
  const right = Math.max(...data.bands.filter((band) => !isHidden(band.within)).map((band) => band.right));
  return [right + 12, data.size[1]];
};
const fit = () => {
  const { width, height } = drawing.getBoundingClientRect();
  const [wide, tall] = seenSize();
  view.scale = Math.min(1.35, width / wide, height / tall);
  view.x = (width - wide * view.scale) / 2;
  view.y = (height - tall * view.scale) / 2;
  applyView();
};
// A large part begins at a size that can be read, with the target in view.
const begin = () => {
  fit();
  if (view.scale < 0.5) focusNode(data.target, 0.75);
};
const zoom = (factor, at) => {
  const { width, height } = drawing.getBoundingClientRect();
  const [x, y] = at || [width / 2, height / 2];
  const scale = Math.min(4, Math.max(0.04, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  applyView();
};
const middleOf = (box) => [box.left + box.width / 2, box.top + box.height / 2];
const focusNode = (number, least = 0.9) => {
  const { width, height } = drawing.getBoundingClientRect();
  const [x, y] = middleOf(data.boxes[number]);
  view.scale = Math.max(view.scale, least);
  view.x = number === data.target ? Math.min(0, width / 2 - x * view.scale) : width / 2 - x * view.scale;
  view.y = height / 2 - y * view.scale;
  applyView();
};
const bringIntoView = (number) => {
  const frame = drawing.getBoundingClientRect();
  const place = boxes[number].group.getBoundingClientRect();
  const outside = place.left < frame.left || place.right > frame.right || place.top < frame.top || place.bottom > frame.bottom;
  if (outside) focusNode(number, 0.5);
};

const pointers = new Map();
let travelled = 0;
const wasDragged = () => travelled > 5;
drawing.addEventListener('pointerdown', (event) => {
  if (pointers.size === 0) travelled = 0;
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
});
window.addEventListener('pointermove', (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const now = [event.clientX, event.clientY];
  const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
  if (others.length) {
    const distance = (place) => Math.hypot(place[0] - others[0][0], place[1] - others[0][1]) || 1;
    const frame = drawing.getBoundingClientRect();
    zoom(distance(now) / distance(before), [others[0][0] - frame.left, others[0][1] - frame.top]);
  } else {
    view.x += now[0] - before[0];
    view.y += now[1] - before[1];
    applyView();
  }
  travelled += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
  pointers.set(event.pointerId, now);
});
for (const kind of ['pointerup', 'pointercancel']) {
  window.addEventListener(kind, (event) => pointers.delete(event.pointerId));
}
drawing.addEventListener('wheel', (event) => {
  event.preventDefault();
  const frame = drawing.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), [event.clientX - frame.left, event.clientY - frame.top]);
}, { passive: false });
byId('closer').addEventListener('click', () => zoom(1.25));
byId('farther').addEventListener('click', () => zoom(0.8));
byId('fit').addEventListener('click', fit);

// --- keys: the nearest node in a direction ---------------------------------------------------------------------------
const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const nearestNode = (from, [dx, dy]) => {
  const [x, y] = middleOf(data.boxes[from]);
  let best = null;
  data.boxes.forEach((box, number) => {
    if (number === from || isHidden(box.within)) return;
    const [ox, oy] = middleOf(box);
    const along = (ox - x) * dx + (oy - y) * dy;
    const across = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    if (along < 8) return;
    const cost = along + across * (dx ? 1.5 : 4);
    if (best === null || cost < best.cost) best = { number, cost };
  });
  return best && best.number;
};
drawing.addEventListener('keydown', (event) => {
  const group = event.target.closest('.box');
  if (group && event.key in directions) {
    const next = nearestNode(Number(group.dataset.node), directions[event.key]);
    if (next !== null) boxes[next].group.focus();
  } else if (group && (event.key === 'Enter' || event.key === ' ')) {
    choose({ kind: 'node', number: Number(group.dataset.node) });
  } else if (event.key === '+' || event.key === '=') zoom(1.25);
  else if (event.key === '-') zoom(0.8);
  else if (event.key === '0') fit();
  else return;
  event.preventDefault();
  event.stopPropagation();
});

// --- legend -----------------------------------------------------------------------------------------------------------
const legendEntry = (words, kind, ...shapes) => make('li', {},
  sign('svg', { class: `drawn-edge ${kind}`, width: 44, height: 18, viewBox: '-2 -9 44 18', 'aria-hidden': 'true' }, ...shapes), words);
const stroke = (d) => sign('path', { class: 'stroke', d, 'stroke-width': 1.8 });
const zigzag = 'M0 0L3 -3L8 3L13 -3L18 3L23 -3L28 3L33 -3L40 0';
byId('legend').append(
  legendEntry('arrow', 'is-arrow', stroke('M0 0H31'), sign('path', { class: 'head', d: 'M40 0L31 -4.5V4.5Z' })),
  ...(data.hidden ? [
    legendEntry('hidden common cause', 'is-hidden', stroke('M9 0H31'), sign('path', { class: 'head', d: 'M40 0L31 -4.5V4.5Z' }), sign('path', { class: 'head', d: 'M0 0L9 -4.5V4.5Z' })),
    legendEntry('cause, or hidden common cause', 'is-line', stroke('M8 0H31'), sign('path', { class: 'head', d: 'M40 0L31 -4.5V4.5Z' }), sign('circle', { class: 'circle', cx: 4, r: 4 })),
    legendEntry('open', 'is-line', stroke('M8 0H32'), sign('circle', { class: 'circle', cx: 4, r: 4 }), sign('circle', { class: 'circle', cx: 36, r: 4 })),
  ] : [legendEntry('line: direction open', 'is-line', stroke('M0 0H40'))]),
  ...(data.edges.some((edge) => isSuggested(lastLook(edge))) ? [legendEntry('line: direction suggested', 'is-line is-suggested', stroke('M0 0H31'),
    sign('path', { class: 'head', d: 'M40 0L31 -4.5V4.5Z' }))] : []),
  legendEntry('conflict', 'is-conflict', stroke(zigzag),
    sign('g', { class: 'cross', transform: 'translate(20 0)' }, sign('circle', { r: 7 }), sign('path', { d: 'M-3.5 -3.5l7 7m0 -7l-7 7' }))),
  ...(data.edges.some((edge) => !edge.within) ? [legendEntry('beyond the asked depth', 'is-line is-beyond', stroke('M0 0H40'))] : []),
  make('li', {}, sign('svg', { class: 'box is-visited', width: 26, height: 16, viewBox: '0 0 26 16', 'aria-hidden': 'true' },
    sign('rect', { x: 1, y: 1, width: 24, height: 14, rx: 4 })), 'visited'),
  ...(data.edges.some((edge) => edge.weight) ? [make('li', {}, data.with_effects ? 'width: how sure; number: effect' : 'width and number: how sure')] : []),
);
