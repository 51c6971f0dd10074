// How much: the effect of one column on another, by one way to adjust or several, with what it rests on.
import { button, byId, make } from './elements.js';
import { name, picture, refill, select } from './pieces.js';
import { ask, plain, sentence, told } from './server.js';
import { columnNames } from './table.js';

const ways = [
  ['parents', 'the parents of the cause'],
  ['optimal', 'the set with the narrowest interval'],
  ['earlier', 'all that is given as earlier'],
  ['own', 'columns of my own'],
];
let found = null;
let chosen = { cause: '', target: '' };
let held = { ways: ['parents'], own: '' };
let about = null;

const wordsOf = (adjust) =>
  Array.isArray(adjust) ? adjust.join(', ') || 'nothing' : ways.find(([way]) => way === adjust)[1];
const estimate = ({ adjust, refused, text, sensitivity, grounds, svg }) =>
  make(
    'article',
    { class: 'effect' },
    make('h3', {}, 'Adjusted for: ', make('bdi', {}, wordsOf(adjust))),
    refused ? make('p', { class: 'refused' }, ...sentence(refused)) : told(text),
    sensitivity
      ? make('p', { class: 'hidden-cause' }, make('b', {}, 'A hidden cause: '), make('bdi', {}, sensitivity))
      : null,
    svg ? picture(svg, text.map(plain).join('; ')) : null,
    grounds ? make('details', {}, make('summary', {}, 'What it rests on'), told(grounds)) : null,
  );

const field = (which, label, values) =>
  make(
    'label',
    {},
    `${label} `,
    select(
      { id: `effect-${which}`, 'data-key': `effect ${which}` },
      values.map((one) => [one, one]),
      chosen[which],
      (value) => {
        chosen[which] = value;
      },
    ),
  );
const work = async () => {
  const wanted = [...byId('much').querySelectorAll('[name="adjust"]:checked')].map(({ value }) => value);
  held = { ways: wanted, own: byId('own').value };
  const own = held.own
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  const adjust = wanted.map((way) => (way === 'own' ? own : way));
  const cause = byId('effect-cause').value;
  const target = byId('effect-target').value;
  found = (await ask('effect', { cause, target, adjust })) ?? null;
  draw();
};

let state = null;
const draw = () => {
  const { study, part } = state;
  if (!part) return;
  if (about !== part.target) {
    about = part.target;
    found = null;
    const first = part.edges[0];
    chosen = { cause: first?.from ?? part.neighbours[0] ?? '', target: first?.to ?? part.target };
  }
  const names = [...new Set([part.target, ...part.neighbours, ...columnNames()])];
  refill(byId('much'), [study.target, part.edges, found, names], () => [
    make('h2', {}, 'How much?'),
    make(
      'p',
      { class: 'hint' },
      'What setting one column would do to another, how sure that is, and what could undo it.',
    ),
    make('div', { class: 'bar' }, field('cause', 'Cause', names), field('target', 'Target', names)),
    make(
      'fieldset',
      {},
      make('legend', {}, 'Adjust for'),
      ...ways.map(([value, words]) =>
        make(
          'label',
          {},
          make('input', {
            type: 'checkbox',
            name: 'adjust',
            value,
            checked: held.ways.includes(value),
            'data-key': `adjust ${value}`,
          }),
          ' ',
          words,
        ),
      ),
      make(
        'label',
        {},
        'My columns ',
        make('input', {
          type: 'text',
          id: 'own',
          value: held.own,
          placeholder: 'age, sex',
          autocomplete: 'off',
          'data-key': 'own',
        }),
      ),
    ),
    button({ id: 'estimate', class: 'main', 'data-key': 'estimate' }, work, 'Estimate'),
    make(
      'div',
      { id: 'effects', 'aria-live': 'polite' },
      ...(found
        ? [make('h3', {}, 'Effect of ', name(found.cause), ' on ', name(found.target)), ...found.effects.map(estimate)]
        : []),
    ),
  ]);
};
export const showEffects = (said) => {
  state = said;
  draw();
};
