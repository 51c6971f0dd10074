// How the rows are read: each setting that the page takes beside those of single columns, as it was declared.
import { button, make } from './elements.js';
import { name, select } from './pieces.js';
import { change } from './server.js';

let isOpen = false;

const say = (control, value) => change('setting', { name: control.name, value });
const listed = (value) => (value === undefined || value === null ? [] : [value].flat());
const usual = ({ what, default: word }) => (word === 'auto' ? 'as noticed' : what === 'words' ? 'as usual' : 'none');

// Columns, one after another; a word stands for itself.
const columnChoice = (control, value, columns) => {
  const { words, what } = control;
  const isWord = typeof value === 'string' && words.includes(value);
  const chosen = isWord ? [] : listed(value);
  const several = what === 'columns';
  const free = columns.filter((column) => !chosen.includes(column));
  const first = chosen.length ? [['', 'and …']] : [['', usual(control)], ...words.map((word) => [`=${word}`, word])];
  const choose = (said) => {
    if (!said) say(control, null);
    else if (said.startsWith('=')) say(control, said.slice(1));
    else say(control, several ? [...chosen, said.slice(1)] : said.slice(1));
  };
  const list = select(
    { 'aria-label': control.title, 'data-key': `setting ${control.name}` },
    [...first, ...free.map((column) => [` ${column}`, column])],
    isWord ? `=${value}` : '',
    choose,
  );
  const taken = chosen.map((column) => {
    const rest = chosen.filter((one) => one !== column);
    const label = `${control.title} without ${column}`;
    return button(
      { 'aria-label': label, 'data-key': `without ${control.name} ${column}` },
      () => say(control, rest),
      name(column),
      ' ×',
    );
  });
  return [...taken, ...(several || !chosen.length ? [list] : [])];
};
const wordChoice = (control, value) => [
  select(
    { 'aria-label': control.title, 'data-key': `setting ${control.name}` },
    [['', usual(control)], ...control.words.map((word) => [word, word])],
    value ?? '',
    (word) => say(control, word || null),
  ),
];
const typed = (control, value) => {
  const isNumber = control.what === 'number';
  const input = make('input', {
    type: isNumber ? 'number' : 'text',
    min: isNumber ? 0 : null,
    size: 12,
    value: value ?? '',
    'aria-label': control.title,
    'data-key': `setting ${control.name}`,
    autocomplete: 'off',
  });
  input.addEventListener('change', () => {
    const said = input.value.trim();
    say(control, said === '' ? null : isNumber ? Number(said) : said);
  });
  return [input];
};
const shapes = { columns: columnChoice, column: columnChoice, words: wordChoice, number: typed, text: typed };

export const rowSettings = (controls, study, columns) => {
  if (!controls?.length) return null;
  const said = controls.filter((control) => control.name in study.further);
  const words = said.map((control) => `${control.title} ${listed(study.further[control.name]).join(', ')}`);
  const made = make(
    'details',
    { class: 'rows', open: isOpen },
    make('summary', {}, 'How the rows are read', words.length ? `: ${words.join('; ')}` : ''),
    make(
      'dl',
      {},
      ...controls.flatMap((control) => [
        make('dt', {}, control.title),
        make(
          'dd',
          { 'data-setting': control.name },
          ...shapes[control.what](control, study.further[control.name], columns),
          make('p', { class: 'hint' }, control.help),
        ),
      ]),
    ),
  );
  made.addEventListener('toggle', () => {
    isOpen = made.open;
  });
  return made;
};
