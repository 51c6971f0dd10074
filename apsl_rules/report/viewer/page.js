// What all pieces of the page share: the data, functions that build elements from text, and the names and facts in words.
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const svgSpace = 'http://www.w3.org/2000/svg';

// Text only ever enters the page here, as text nodes and attribute values.
const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};
const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const sign = (tag, attributes = {}, ...children) => fill(document.createElementNS(svgSpace, tag), attributes, children);
const button = (attributes, act, ...children) => {
  const made = make('button', { type: 'button', ...attributes }, ...children);
  made.addEventListener('click', act);
  return made;
};

const nameOf = (node) => make('bdi', { class: 'name', 'data-node': node }, data.names[node]);
const isDrawn = (node) => node < data.boxes.length;

// A fact in words, each name set apart; arrows and lines get their signs.
const signs = { ' -> ': ' → ', ' -- ': ' — ', ' *-> ': ' ∗→ ' };
const factPieces = (fact) => {
  const [relation, ...nodes] = data.facts[fact];
  return data.relations[relation].map((piece) => typeof piece === 'number' ? nodes[piece] : signs[piece] || piece);
};
const factWords = (fact) =>
  make('span', { class: 'fact' }, ...factPieces(fact).map((piece) => typeof piece === 'number' ? nameOf(piece) : piece));

const pairKey = (x, y) => x < y ? `${x} ${y}` : `${y} ${x}`;
const edgeOfPair = new Map(data.edges.map((edge, number) => [pairKey(...edge.ends), number]));
const edgeOfFact = (fact) => {
  const nodes = data.facts[fact].slice(1);
  return nodes.length === 2 ? edgeOfPair.get(pairKey(...nodes)) : undefined;
};

const lookAt = (edge, position) => {
  let look = 'none';
  for (const [from, next] of edge.looks) {
    if (from > position) break;
    look = next;
  }
  return look;
};
const lastLook = (edge) => lookAt(edge, data.positions);
const looksLike = { line: 'line', 'maybe ahead': 'line', 'maybe back': 'line', ahead: 'arrow', back: 'arrow', both: 'conflict', conflict: 'conflict', none: 'none', 'partial ahead': 'line', 'partial back': 'line', 'two heads': 'hidden', open: 'line' };
const between = { line: '—', 'maybe ahead': '⇢', 'maybe back': '⇢', ahead: '→', back: '→', both: '⇄', conflict: '✕', 'partial ahead': 'o→', 'partial back': 'o→', 'two heads': '↔', open: 'o–o' };

// The two names of an edge with its mark between them, an arrow always pointing to the right.
const edgeEnds = (edge, look) => look === 'back' || look === 'maybe back' || look === 'partial back' ? [...edge.ends].reverse() : edge.ends;
const isSuggested = (look) => look === 'maybe ahead' || look === 'maybe back';
const edgeWords = (edge, look = lastLook(edge)) => {
  const [x, y] = edgeEnds(edge, look);
  return [nameOf(x), make('span', { class: `mark is-${looksLike[look]}` }, ` ${between[look]} `), nameOf(y)];
};
const spoken = { line: 'joined to, direction open,', 'maybe ahead': 'perhaps points at', 'maybe back': 'perhaps points at', ahead: 'points at', back: 'points at', both: 'points at, and is pointed at by,', conflict: 'in conflict with',
  'partial ahead': 'is a cause of, or shares a hidden common cause with,', 'partial back': 'is a cause of, or shares a hidden common cause with,', 'two heads': 'shares a hidden common cause with', open: 'joined to, nothing known of either end,' };
const edgeSpoken = (edge, look = lastLook(edge)) => {
  const [x, y] = edgeEnds(edge, look);
  return `${data.names[x]} ${spoken[look]} ${data.names[y]}`;
};

const state = { position: data.positions, chosen: null, tab: 'run', beyond: true };

// A number with its noun.
const count = (number, one, many) => number === 1 ? `1 ${one}` : `${number} ${many}`;
