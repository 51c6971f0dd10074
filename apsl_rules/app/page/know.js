// What I know: columns put into earlier and later, the questions that are offered, and arrows said outright.
import { button, byId, make } from './elements.js';
import { name, refill, select } from './pieces.js';
import { ask, change } from './server.js';
import { columnNames } from './table.js';
import { onChosen } from './report.js';

const unsure = "don't know";
let picking = false;
const ends = { from: '', to: '' };
let last = null;

// --- questions as boards: a box for each word, columns are put into them -----------------------------------------------

const answersTo = (question, study) => {
  const earlier = study.answers.filter(({ id, target }) => id === question.id && (target ?? null) === question.target);
  return new Map(earlier.flatMap(({ reply }) => reply));
};
const say = (question, study, column, word) => {
  const reply = answersTo(question, study);
  if (word === unsure) reply.delete(column);
  else reply.set(column, word);
  const by = byId('by')?.value.trim() || 'you';
  const date = byId('date')?.value.trim() || '';
  return ask('answer', { id: question.id, reply: Object.fromEntries(reply), by, date });
};
const chip = (question, study, column, word) => {
  const made = make(
    'li',
    { class: 'chip', draggable: 'true', 'data-item': column },
    name(column),
    ' ',
    select(
      { 'aria-label': `${column} is`, 'data-key': `${question.id} ${column}` },
      question.choices.map((one) => [one, one]),
      word,
      (chosen) => say(question, study, column, chosen),
    ),
  );
  made.addEventListener('dragstart', (event) => {
    event.dataTransfer.setData('application/x-apsl', JSON.stringify([question.id, column]));
    event.dataTransfer.effectAllowed = 'move';
  });
  return made;
};
const box = (question, study, word, columns) => {
  const made = make(
    'div',
    { class: 'box', 'data-word': word },
    make('h4', {}, word),
    make('ul', {}, ...columns.map((column) => chip(question, study, column, word))),
  );
  made.addEventListener('dragover', (event) => {
    if (!event.dataTransfer.types.includes('application/x-apsl')) return;
    event.preventDefault();
    made.classList.add('is-over');
  });
  made.addEventListener('dragleave', () => made.classList.remove('is-over'));
  made.addEventListener('drop', (event) => {
    const said = event.dataTransfer.getData('application/x-apsl');
    if (!said) return;
    event.preventDefault();
    made.classList.remove('is-over');
    const [id, column] = JSON.parse(said);
    if (id === question.id) say(question, study, column, word);
  });
  return made;
};
const further = (question, study) => {
  if (question.id !== 'sort') return null;
  const known = new Set([...question.items, ...answersTo(question, study).keys(), question.target]);
  const others = columnNames().filter((column) => !known.has(column));
  if (!others.length) return null;
  const input = make('input', { type: 'text', list: 'others', 'data-key': 'further', autocomplete: 'off' });
  return make(
    'div',
    { class: 'bar' },
    make('label', {}, 'Another column ', input),
    make('datalist', { id: 'others' }, ...others.map((value) => make('option', { value }))),
    ...['before', 'after'].map((word) =>
      button(
        { 'data-key': `comes ${word}` },
        () => input.value && say(question, study, input.value.trim(), word),
        `comes ${word}`,
      ),
    ),
  );
};
const board = (question, study) => {
  const answers = answersTo(question, study);
  const items = [...new Set([...question.items, ...answers.keys()])];
  const guesses = question.guess.filter(([column]) => !answers.has(column));
  const agree = guesses.length
    ? button(
        { 'data-key': `agree ${question.id}` },
        () =>
          ask('answer', {
            id: question.id,
            reply: { ...Object.fromEntries(answers), ...Object.fromEntries(guesses) },
            by: byId('by')?.value.trim() || 'you',
          }),
        `By their names: ${guesses.map(([column, word]) => `${column} ${word}`).join(', ')}. Agree`,
      )
    : null;
  return make(
    'div',
    { class: 'question', 'data-question': question.id },
    make('h3', {}, make('bdi', {}, question.text)),
    question.because ? make('p', { class: 'hint' }, make('bdi', {}, question.because)) : null,
    agree,
    make(
      'div',
      { class: 'boxes' },
      ...question.choices.map((word) =>
        box(
          question,
          study,
          word,
          items.filter((column) => (answers.get(column) ?? unsure) === word),
        ),
      ),
    ),
    further(question, study),
  );
};

// The questions that are offered, and those that were answered and are not offered any more.
const words = { outcome: ['yes', unsure], roots: ['yes', unsure], tiers: ['1', '2', '3', '4', unsure] };
const asked = ({ study, part }) => {
  const offered = (part?.questions ?? []).filter(({ kind }) => kind !== 'pair');
  const open = new Set(offered.map(({ id }) => id));
  const answered = study.answers
    .filter(({ id, target }) => !open.has(id) && (!target || target === study.target))
    .map(({ id, target }) => ({
      id,
      target: target ?? null,
      items: [],
      guess: [],
      because: '',
      choices: words[id] ?? ['before', 'after', 'neither', unsure],
      text: id === 'sort' ? `What comes before ${study.target}, and what after it?` : `Your answer: ${id}`,
    }));
  const sort = open.has('sort') || answered.some(({ id }) => id === 'sort');
  const always = sort || !study.target ? [] : [{ ...emptySort, target: study.target, text: sortText(study.target) }];
  return [...always, ...answered, ...offered];
};
const sortText = (target) => `What comes before ${target}, and what after it?`;
const emptySort = { id: 'sort', items: [], guess: [], because: '', choices: ['before', 'after', 'neither', unsure] };

// --- arrows said outright ----------------------------------------------------------------------------------------------

const endField = (which, label) => {
  const input = make('input', {
    type: 'text',
    id: `arrow-${which}`,
    list: 'columns',
    value: ends[which],
    'data-key': `arrow ${which}`,
    autocomplete: 'off',
  });
  input.addEventListener('input', () => {
    ends[which] = input.value;
  });
  return make('label', {}, `${label} `, input);
};
const sayArrow = async (says) => {
  const given = { from: ends.from.trim(), to: ends.to.trim(), says };
  if (!(await change('arrow', given))) return;
  ends.from = ends.to = '';
  picking = false;
  draw(last);
};
const arrows = (study) => {
  const said = [
    ...study.required.map((pair) => ['required', pair]),
    ...study.forbidden.map((pair) => ['forbidden', pair]),
  ];
  return make(
    'div',
    { class: 'question' },
    make('h3', {}, 'An arrow there must be, or cannot be'),
    make(
      'div',
      { class: 'bar' },
      button(
        { 'aria-pressed': String(picking), 'data-key': 'pick', id: 'pick' },
        () => {
          picking = !picking;
          ends.from = ends.to = '';
          draw(last);
        },
        'Draw it',
      ),
      endField('from', 'from'),
      endField('to', 'to'),
      button({ 'data-key': 'require', id: 'require' }, () => sayArrow('required'), 'Require'),
      button({ 'data-key': 'forbid', id: 'forbid' }, () => sayArrow('forbidden'), 'Forbid'),
      make('datalist', { id: 'columns' }, ...columnNames().map((value) => make('option', { value }))),
    ),
    picking
      ? make(
          'p',
          { class: 'hint', role: 'status' },
          'Choose in the drawing where the arrow begins, then where it ends, by clicks or with Tab and Enter.',
        )
      : null,
    make(
      'ul',
      { class: 'said' },
      ...said.map(([says, [from, to]]) =>
        make(
          'li',
          {},
          `${says}: `,
          name(from),
          ' → ',
          name(to),
          ' ',
          button(
            { 'aria-label': `Take back ${from} to ${to}`, 'data-key': `release ${from} ${to}` },
            () => change('arrow', { from, to, says: null }),
            'Take back',
          ),
        ),
      ),
    ),
  );
};

// --- what rests on whom ------------------------------------------------------------------------------------------------

const rests = (part) => {
  if (!part) return null;
  const line = (title, on) => {
    const some = part.rests.filter((one) => one.on === on);
    return make(
      'p',
      {},
      `${title}: `,
      make('bdi', {}, some.length ? some.map(({ edge }) => edge).join(', ') : 'no edge'),
    );
  };
  return make(
    'div',
    { class: 'question', id: 'rests' },
    make('h3', {}, 'What rests on whom'),
    line('On what I said', 'said'),
    part.rests.some(({ on }) => on === 'names') ? line('On the names of columns', 'names') : null,
    line('On rows alone', 'rows'),
    part.changed.length
      ? make(
          'div',
          { role: 'status' },
          'Your last change:',
          make('ul', {}, ...part.changed.map((one) => make('li', {}, make('bdi', {}, one)))),
        )
      : null,
  );
};

const draw = (state) => {
  if (!state) return;
  last = state;
  const { study, part } = state;
  if (part && part.target !== study.target) return;
  const { by, date } = { by: byId('by')?.value ?? '', date: byId('date')?.value ?? '' };
  const made = [
    study.answers,
    study.required,
    study.forbidden,
    study.target,
    part,
    picking,
    { ...ends },
    columnNames(),
  ];
  refill(byId('know'), made, () => [
    make('h2', {}, 'What I know'),
    make(
      'div',
      { class: 'bar' },
      make(
        'label',
        {},
        'Who says it ',
        make('input', { type: 'text', id: 'by', value: by, placeholder: 'you', autocomplete: 'off', 'data-key': 'by' }),
      ),
      make(
        'label',
        {},
        'When ',
        make('input', { type: 'text', id: 'date', value: date, autocomplete: 'off', 'data-key': 'date' }),
      ),
    ),
    rests(part),
    ...asked(state).map((question) => board(question, study)),
    arrows(study),
  ]);
};
export const showKnown = draw;

onChosen(({ edge, node }) => {
  if (!picking || !last) return;
  if (edge) [ends.from, ends.to] = edge;
  else if (node !== null && !ends.from) ends.from = node;
  else if (node !== null && node !== ends.from) ends.to = node;
  draw(last);
  if (ends.from && ends.to) byId('require').focus();
});
