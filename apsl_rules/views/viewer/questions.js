// The box of questions: what only a person can tell, sorted by clicking, and the file that takes the answers away.
import { button, byId, count, make } from './elements.js';
import { data } from './page.js';
import { saveText } from './download.js';

const unsure = "don't know";
const asked = data.questions;
const replies = asked.map((question) => new Map(question.guess));

// One word for each item: the buttons of its row, of which one is pressed.
const row = (question, number, item) => {
  const { label, name } = question.items[item];
  const words = question.choices.map((word) =>
    button(
      { class: 'word', 'data-word': word },
      () => {
        if (word === unsure) replies[number].delete(item);
        else replies[number].set(item, word);
        press();
      },
      word,
    ),
  );
  const press = () => {
    const chosen = replies[number].get(item) ?? unsure;
    for (const one of words) one.setAttribute('aria-pressed', one.dataset.word === chosen);
    tell();
  };
  const line = make('li', { 'data-item': label }, make('bdi', { class: 'name' }, name), ' ', ...words);
  return { line, press };
};
const answers = () => {
  const by = byId('answer-by').value.trim() || 'you';
  const date = byId('answer-date').value.trim();
  return asked
    .map((question, number) => ({ question, told: [...replies[number]] }))
    .filter(({ told }) => told.length)
    .map(({ question, told }) => {
      const pairs = told.map(([item, word]) => `[${question.items[item].label}, ${JSON.stringify(word)}]`);
      return [
        '[[answers]]',
        `id = ${JSON.stringify(question.id)}`,
        `by = ${JSON.stringify(by)}`,
        ...(date ? [`date = ${JSON.stringify(date)}`] : []),
        ...(question.target === null ? [] : [`target = ${question.target}`]),
        `reply = [${pairs.join(', ')}]`,
        '',
      ].join('\n');
    })
    .join('');
};
const tell = () => {
  const told = replies.reduce((sum, reply) => sum + reply.size, 0);
  byId('save-answers').disabled = told === 0;
};

export const startQuestions = () => {
  if (!asked.length) return;
  const box = byId('questions');
  const settles = Math.max(...asked.map(({ value }) => value));
  const first = count(asked.length, 'question', 'questions');
  const save = button({ id: 'save-answers' }, () => saveText(answers(), 'answers.toml'), 'Save the answers');
  const rows = asked.map((question, number) => question.items.map((_, item) => row(question, number, item)));
  box.append(
    make(
      'details',
      {},
      make('summary', {}, `${first} would settle ${count(settles, 'edge', 'edges')}`),
      ...asked.flatMap((question, number) => [
        make('p', { class: 'question' }, question.text),
        make('ul', { 'data-question': question.id }, ...rows[number].map(({ line }) => line)),
      ]),
      make('label', {}, 'Who answers ', make('input', { id: 'answer-by', type: 'text', autocomplete: 'off' })),
      make('label', {}, 'When ', make('input', { id: 'answer-date', type: 'text', autocomplete: 'off' })),
      save,
      make('p', { class: 'hint' }, 'apsl ask takes the file with --answers, and Knowledge.read with it learns.'),
    ),
  );
  box.hidden = false;
  for (const { press } of rows.flat()) press();
};
