// What all modules share: the data, and functions that build elements from text.
export const data = JSON.parse(document.getElementById('data').textContent);
export const byId = (id) => document.getElementById(id);
const svgSpace = 'http://www.w3.org/2000/svg';

// Text only ever enters the page here, as text nodes and attribute values.
const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};
export const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const sign = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(svgSpace, tag), attributes, children);
export const button = (attributes, act, ...children) => {
  const made = make('button', { type: 'button', ...attributes }, ...children);
  made.addEventListener('click', act);
  return made;
};

export const classes = (...names) => names.filter(Boolean).join(' ');
export const nameOf = (node) => make('bdi', { class: 'name', 'data-node': node }, data.names[node]);
export const namesOf = (nodes) => nodes.flatMap((node, place) => (place ? [', ', nameOf(node)] : [nameOf(node)]));
export const isDrawn = (node) => node < data.nodes.length;

// A number with its noun, and a number as people write it.
export const count = (number, one, many) => (number === 1 ? `1 ${one}` : `${number.toLocaleString('en')} ${many}`);
export const thousands = (number) => number.toLocaleString('en');
