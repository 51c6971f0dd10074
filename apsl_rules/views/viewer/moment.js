// A moment of the run: who was visited by then, and what the newest entry speaks of.
import { data } from './page.js';
import { edgeOfFact } from './words.js';
import { state } from './state.js';

export const isFiring = (entry) => entry.rule !== undefined || entry.dropped_for !== undefined;
export const visitAt = (position) => data.visits.findIndex(({ begin, end }) => begin < position && position <= end);

export const momentNow = () => {
  const { position } = state;
  const finished = position === data.positions;
  const visit = visitAt(position);
  const entry = data.history[position - 1];
  const edge = entry && !finished ? edgeOfFact(entry.fact) : undefined;
  return {
    visited: new Set(data.visits.filter(({ begin }) => begin < position).map(({ node }) => node)),
    node: visit >= 0 && !finished ? data.visits[visit].node : null,
    edges: new Set(edge === undefined ? [] : [edge]),
  };
};
