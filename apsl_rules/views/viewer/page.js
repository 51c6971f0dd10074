// What all modules share: the data, and the names of nodes.
import { make } from './elements.js';

export const data = JSON.parse(document.getElementById('data').textContent);
export const nameOf = (node) => make('bdi', { class: 'name', 'data-node': node }, data.names[node]);
export const namesOf = (nodes) => nodes.flatMap((node, place) => (place ? [', ', nameOf(node)] : [nameOf(node)]));
export const isDrawn = (node) => node < data.nodes.length;
