// What the page shows at the moment, and who wants to know when that changes.
import { data } from './page.js';

export const state = { position: data.positions, chosen: null, tab: 'edges', view: 0 };

const listeners = { chosen: [], moment: [], view: [], tab: [] };
export const on = (what, act) => listeners[what].push(act);
const tell = (what, ...more) => {
  for (const act of listeners[what]) act(...more);
};

export const view = () => data.views[state.view];
const shows = (number, node) => data.views[number].boxes.some((box) => box.node === node);
const draws = (number, edge) => data.views[number].routes.some((route) => route.edge === edge);

export const showView = (number) => {
  if (number === state.view) return;
  state.view = number;
  tell('view');
};
// Show the smallest drawing that has a node, or an edge, unless the one that is seen has it.
const showWhere = (has) => {
  if (has(state.view)) return;
  const found = data.views.findIndex((_, number) => has(number));
  if (found >= 0) showView(found);
};
export const showNode = (node) => showWhere((number) => shows(number, node));

// The edge of what is chosen, if it has one.
export const edgeOf = (chosen) => {
  if (chosen === null || chosen.kind === 'node') return null;
  return chosen.kind === 'edge' ? chosen.number : data.conflicts[chosen.number].edge;
};

// Choose a node, an edge or a conflict; `follow` leads the keyboard to what opens.
export const choose = (chosen, follow = false) => {
  state.chosen = chosen;
  state.tab = 'why';
  const edge = edgeOf(chosen);
  if (chosen.kind === 'node') showNode(chosen.number);
  else if (edge !== null) showWhere((number) => draws(number, edge));
  tell('tab');
  tell('chosen', follow);
};
export const chooseNothing = () => {
  const { chosen } = state;
  state.chosen = null;
  tell('tab');
  tell('chosen', false);
  return chosen;
};
export const openTab = (name) => {
  state.tab = name;
  tell('tab');
};
export const moveTo = (position) => {
  state.position = Math.min(data.positions, Math.max(0, position));
  tell('moment');
};
