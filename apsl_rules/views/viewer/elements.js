// Build elements from text: text only ever enters a page here, as text nodes and attribute values.
export const byId = (id) => document.getElementById(id);
const svgSpace = 'http://www.w3.org/2000/svg';

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

// A number with its noun, and a number as people write it.
export const count = (number, one, many) => (number === 1 ? `1 ${one}` : `${number.toLocaleString('en')} ${many}`);
export const thousands = (number) => number.toLocaleString('en');

// The button that turns from light to dark and back; what else has a theme is told.
export const startTheme = (tell = () => {}) => {
  const { dataset } = document.documentElement;
  byId('theme').addEventListener('click', () => {
    const now = dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    dataset.theme = now === 'dark' ? 'light' : 'dark';
    tell(dataset.theme);
  });
};
