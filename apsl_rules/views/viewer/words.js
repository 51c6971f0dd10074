// Facts and edges in words: each name set apart, an arrow always pointing to the right.
import { make } from './elements.js';
import { data, nameOf } from './page.js';

const signs = { ' -> ': ' → ', ' -- ': ' — ', ' *-> ': ' ∗→ ' };
export const factWords = (number) => {
  const { relation, nodes } = data.facts[number];
  const pieces = data.relations[relation].map((piece) =>
    typeof piece === 'number' ? nameOf(nodes[piece]) : signs[piece] || piece,
  );
  return make('span', { class: 'fact' }, ...pieces);
};

const pairKey = (x, y) => (x < y ? `${x} ${y}` : `${y} ${x}`);
const edgeOfPair = new Map(data.edges.map((edge, number) => [pairKey(...edge.ends), number]));
export const edgeBetween = (x, y) => edgeOfPair.get(pairKey(x, y));
export const edgeOfFact = (number) => {
  const { nodes } = data.facts[number];
  return nodes.length === 2 ? edgeBetween(...nodes) : undefined;
};

export const lookAt = (edge, position) => {
  let found = 'none';
  for (const { from, look } of edge.looks) {
    if (from > position) break;
    found = look;
  }
  return found;
};
export const lastLook = (edge) => lookAt(edge, data.positions);

// Each look: its kind of stroke, the sign between its names, how it is spoken, and what is at its two ends.
const look = (kind, between, spoken, start = 'plain', end = 'plain') => ({ kind, between, spoken, start, end });
const points = 'points at';
const perhaps = 'perhaps points at';
const partial = 'is a cause of, or shares a hidden common cause with,';
export const looks = {
  none: look('none', '', ''),
  line: look('line', '—', 'joined to, direction open,'),
  ahead: look('arrow', '→', points, 'plain', 'head'),
  back: look('arrow', '→', points, 'head', 'plain'),
  'maybe ahead': look('line', '⇢', perhaps, 'plain', 'head'),
  'maybe back': look('line', '⇢', perhaps, 'head', 'plain'),
  both: look('conflict', '⇄', 'points at, and is pointed at by,', 'head', 'head'),
  conflict: look('conflict', '✕', 'in conflict with'),
  'partial ahead': look('line', 'o→', partial, 'circle', 'head'),
  'partial back': look('line', 'o→', partial, 'head', 'circle'),
  'two heads': look('hidden', '↔', 'shares a hidden common cause with', 'head', 'head'),
  open: look('line', 'o–o', 'joined to, nothing known of either end,', 'circle', 'circle'),
};
const turned = new Set(['back', 'maybe back', 'partial back']);
export const isSuggested = (seen) => seen === 'maybe ahead' || seen === 'maybe back';
export const edgeEnds = (edge, seen = lastLook(edge)) => (turned.has(seen) ? edge.ends.toReversed() : edge.ends);
export const edgeWords = (edge, seen = lastLook(edge)) => {
  const [x, y] = edgeEnds(edge, seen);
  const { kind, between } = looks[seen];
  return [nameOf(x), make('span', { class: `mark is-${kind}` }, ` ${between} `), nameOf(y)];
};
export const edgeSpoken = (edge, seen = lastLook(edge)) => {
  const [x, y] = edgeEnds(edge, seen);
  return `${data.names[x]} ${looks[seen].spoken} ${data.names[y]}`;
};
