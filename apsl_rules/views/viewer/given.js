// Plots of two columns given others. The page around the report has the rows: it is asked, and its chart is drawn here.
import { button, make } from './elements.js';
import { data, isDrawn, namesOf } from './page.js';
import { chartOf } from './charts.js';

const waiting = new Map();
let asked = 0;
export const canPlot = () => document.documentElement.dataset.within === 'page';

const heldWords = ({ kind, given }) => {
  if (!given.length) return [];
  const left = kind === 'strata' ? [': the largest strata'] : [': what a straight line in them leaves of each number'];
  return [make('p', { class: 'hint' }, 'Given ', ...namesOf(given), ...left)];
};
const show = (place, chart) => {
  place.removeAttribute('aria-busy');
  place.replaceChildren(
    ...(chart ? [...heldWords(chart), ...chartOf(chart)] : [make('p', { class: 'hint' }, 'It cannot be drawn.')]),
  );
};
// A button that shows the plot of two nodes in a place, and takes it away again.
export const plotButton = (x, y, given, place) => {
  const act = () => {
    if (place.hasChildNodes()) {
      place.replaceChildren();
      return;
    }
    asked += 1;
    waiting.set(asked, place);
    place.setAttribute('aria-busy', 'true');
    place.replaceChildren(make('p', { class: 'hint' }, 'drawing …'));
    const [first, second, ...held] = [x, y, ...given].map((node) => data.names[node]);
    window.parent.postMessage({ apsl: 'given', number: asked, x: first, y: second, given: held }, '*');
  };
  const words = [x, y].map((node) => data.names[node]).join(' and ');
  const held = given.map((node) => data.names[node]).join(', ');
  return button({ class: 'plot', 'aria-label': `Plot ${words}${held ? ` given ${held}` : ''}` }, act, 'Plot');
};
// The same for an edge: its two columns given all others that its second end is joined to.
export const edgePlot = (edge, [x, y]) => {
  if (!canPlot() || !data.with_effects || !isDrawn(x) || !isDrawn(y)) return [];
  const joined = data.edges.filter((one) => one.within && one !== edge && one.ends.includes(y));
  const given = [...new Set(joined.flatMap(({ ends }) => ends))].filter((node) => node !== y && node !== x);
  if (!given.length) return [];
  const place = make('div', { class: 'given', role: 'status' });
  return [
    make(
      'section',
      { class: 'behind' },
      make('p', {}, plotButton(x, y, given, place), ' given ', ...namesOf(given)),
      place,
    ),
  ];
};

export const startPlots = () => {
  window.addEventListener('message', ({ source, data: message }) => {
    if (source !== window.parent || !message || message.apsl !== 'chart' || !waiting.has(message.number)) return;
    const place = waiting.get(message.number);
    waiting.delete(message.number);
    const [nodes, given] = ['nodes', 'given'].map(
      (which) => message.chart && message.chart[which].map((name) => data.names.indexOf(name)),
    );
    show(place, message.chart && { ...message.chart, nodes, given });
  });
};
