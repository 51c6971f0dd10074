// The question: which column, how far, and what is said of hidden causes.
import { byId, make } from './elements.js';
import { name, refill } from './pieces.js';
import { change } from './server.js';

const farthest = 6;
const worlds = [
  ['possible', 'Some common cause may be missing', 'arrows only where they were right on real tables'],
  ['excluded', 'No common cause is missing', 'I vouch for it; more arrows are drawn'],
  ['allowed', 'Mark where one may hide', 'each edge gets a mark at both ends'],
];

const depth = (study) => {
  const at = study.depth === 'max' ? farthest : Math.min(study.depth, farthest - 1);
  const words = (value) => (value === farthest ? 'all that is connected' : `${value} step${value === 1 ? '' : 's'}`);
  const told = make('output', { for: 'depth' }, words(at));
  const slider = make('input', {
    type: 'range',
    id: 'depth',
    'data-key': 'depth',
    min: 1,
    max: farthest,
    step: 1,
    value: at,
    'aria-valuetext': words(at),
  });
  slider.addEventListener('input', () => {
    told.textContent = words(Number(slider.value));
    slider.setAttribute('aria-valuetext', words(Number(slider.value)));
  });
  slider.addEventListener('change', () => {
    const value = Number(slider.value);
    change('depth', { depth: value === farthest ? 'max' : value });
  });
  return make('div', { class: 'depth' }, make('label', { for: 'depth' }, 'How far '), slider, ' ', told);
};

const hidden = (study, part) => {
  const chosen = study.hidden === 'auto' ? (part?.hidden ?? 'possible') : study.hidden;
  return make(
    'fieldset',
    {},
    make('legend', {}, 'Hidden causes'),
    ...worlds.map(([value, words, more]) => {
      const input = make('input', {
        type: 'radio',
        name: 'hidden',
        value,
        checked: value === chosen,
        'data-key': `hidden ${value}`,
      });
      input.addEventListener('change', () => change('hidden', { hidden: value }));
      return make('label', { title: more }, input, ' ', words);
    }),
  );
};

export const showQuestion = ({ study, part }) => {
  refill(byId('question'), [study.target, study.depth, study.hidden, part?.hidden], () =>
    study.target
      ? [
          make('h2', {}, 'What goes with ', name(study.target), '?'),
          make('div', { class: 'bar' }, depth(study), hidden(study, part)),
        ]
      : [make('p', { class: 'hint' }, 'Choose a column in the table first.')],
  );
};
