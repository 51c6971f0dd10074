// The legend: the signs that this part needs.
import { byId, make, sign } from './elements.js';
import { data } from './page.js';
import { isSuggested, lastLook, looks } from './words.js';

const head = () => sign('path', { class: 'head', d: 'M40 0L31 -4.5V4.5Z' });
const stroke = (d) => sign('path', { class: 'stroke', d, 'stroke-width': 1.8 });
const circle = (cx) => sign('circle', { class: 'circle', cx, r: 4 });
const zigzag = 'M0 0L3 -3L8 3L13 -3L18 3L23 -3L28 3L33 -3L40 0';
const entry = (words, kind, ...shapes) =>
  make(
    'li',
    {},
    sign(
      'svg',
      { class: `drawn-edge ${kind}`, width: 44, height: 18, viewBox: '-2 -9 44 18', 'aria-hidden': 'true' },
      ...shapes,
    ),
    words,
  );
const cross = () =>
  sign(
    'g',
    { class: 'cross', transform: 'translate(20 0)' },
    sign('circle', { r: 7 }),
    sign('path', { d: 'M-3.5 -3.5l7 7m0 -7l-7 7' }),
  );
const hiddenEntries = () => [
  entry(
    'hidden common cause',
    'is-hidden',
    stroke('M9 0H31'),
    head(),
    sign('path', { class: 'head', d: 'M0 0L9 -4.5V4.5Z' }),
  ),
  entry('cause, or hidden common cause', 'is-line', stroke('M8 0H31'), head(), circle(4)),
  entry('open', 'is-line', stroke('M8 0H32'), circle(4), circle(36)),
];
const visitedEntry = () =>
  make(
    'li',
    {},
    sign(
      'svg',
      { class: 'box is-visited', width: 26, height: 16, viewBox: '0 0 26 16', 'aria-hidden': 'true' },
      sign('rect', { x: 1, y: 1, width: 24, height: 14, rx: 4 }),
    ),
    'visited',
  );

export const startLegend = () => {
  const some = (test) => data.edges.some(test);
  const someLook = (test) => some((edge) => edge.looks.some(({ look }) => test(look)));
  const figures = data.with_effects ? 'width: how sure; number: effect' : 'width and number: how sure';
  byId('legend').append(
    ...(someLook((look) => looks[look].kind === 'arrow')
      ? [entry('arrow', 'is-arrow', stroke('M0 0H31'), head())]
      : []),
    ...(data.hidden ? hiddenEntries() : []),
    ...(!data.hidden && someLook((look) => looks[look].kind === 'line' && !isSuggested(look))
      ? [entry('line: direction open', 'is-line', stroke('M0 0H40'))]
      : []),
    ...(some((edge) => isSuggested(lastLook(edge)))
      ? [entry('line: direction suggested', 'is-line is-suggested', stroke('M0 0H31'), head())]
      : []),
    ...(some((edge) => edge.looks.some(({ look }) => looks[look].kind === 'conflict'))
      ? [entry('conflict', 'is-conflict', stroke(zigzag), cross())]
      : []),
    ...(some((edge) => !edge.within) ? [entry('beyond the asked depth', 'is-line is-beyond', stroke('M0 0H40'))] : []),
    ...(some((edge) => edge.doubtful) ? [entry('edge doubtful', 'is-line is-doubtful', stroke('M0 0H40'))] : []),
    visitedEntry(),
    ...(some((edge) => edge.text) ? [make('li', {}, figures)] : []),
    ...(data.in_time ? [make('li', {}, data.in_time)] : []),
  );
};
