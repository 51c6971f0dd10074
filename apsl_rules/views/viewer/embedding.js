// Inside another page, such as a notebook: tell it what is chosen, and choose what it asks for.
import { data } from './page.js';
import { edgeBetween, edgeEnds } from './words.js';
import { choose, edgeOf, on, state } from './state.js';

const isEmbedded = window.parent !== window;
const selection = () => {
  const { chosen } = state;
  const edge = edgeOf(chosen);
  const ends = typeof edge === 'number' ? edgeEnds(data.edges[edge]).map((node) => data.names[node]) : null;
  const node = chosen !== null && chosen.kind === 'node' ? data.names[chosen.number] : null;
  return { apsl: 'selection', edge: ends, node };
};
const obey = ({ source, data: message }) => {
  if (source !== window.parent || !message || message.apsl !== 'select' || !Array.isArray(message.edge)) return;
  const [x, y] = message.edge.map((name) => data.names.indexOf(name));
  const number = x >= 0 && y >= 0 ? edgeBetween(x, y) : undefined;
  if (number !== undefined) choose({ kind: 'edge', number });
};
export const startEmbedding = () => {
  if (!isEmbedded) return;
  on('chosen', () => window.parent.postMessage(selection(), '*'));
  window.addEventListener('message', obey);
};
