// The table: each column with its kind and how it is spread; kinds, missing values and columns left out by a click.
import { button, byId, count, make, sign } from './elements.js';
import { name, refill, select } from './pieces.js';
import { attempt, change, get, sentence } from './server.js';
import { openTab } from './tabs.js';
import { rowSettings } from './rows.js';

const atOnce = 50;
const kinds = ['category', 'ordered', 'number'];
let table = null;
let seen = 0;
let isReading = false;
let shown = { study: null, part: null, columns: { of: 0 } };
let page = 0;
let sought = '';

// Bars as wide as they are few; the shares in words are beside them.
const bars = ({ bars: found = [] }) => {
  const values = found.map(({ rows }) => rows);
  if (!values.length) return make('span', { class: 'hint' }, '–');
  const largest = Math.max(...values, 1);
  const width = 120 / values.length;
  return sign(
    'svg',
    { class: 'bars', viewBox: '0 0 120 32', width: 120, height: 32, 'aria-hidden': 'true', focusable: 'false' },
    ...values.map((value, place) => {
      const height = Math.max(value ? 1 : 0, (30 * value) / largest);
      return sign('rect', { x: place * width, y: 32 - height, width: Math.max(1, width - 1), height });
    }),
  );
};

const kindOf = (column, study) =>
  column.kind === 'left out'
    ? make('span', { class: 'hint' }, 'left out')
    : column.kind === 'node' || column.kind === 'not read'
      ? make('span', { class: 'hint' }, column.kind)
      : select(
          { 'aria-label': `Kind of ${column.name}`, 'data-key': `kind ${column.name}` },
          [
            ['', `${study.kinds[column.name] ? 'as found' : column.kind}`],
            ...kinds.filter((kind) => study.kinds[column.name] || kind !== column.kind).map((kind) => [kind, kind]),
          ],
          study.kinds[column.name] ?? '',
          (kind) => change('kind', { column: column.name, kind: kind || null }),
        );

const missing = (column, study, rows) => {
  const share = column.missing ? `${((100 * column.missing) / rows).toFixed(1)} % missing` : '';
  const codes = study.na[column.name] ?? [];
  const input = make('input', {
    type: 'text',
    value: codes.join(', '),
    size: 6,
    placeholder: 'e.g. 999',
    'aria-label': `What stands for a missing value in ${column.name}`,
    'data-key': `missing ${column.name}`,
    autocomplete: 'off',
  });
  input.addEventListener('change', () => {
    const said = input.value
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
    change('missing', { column: column.name, codes: said });
  });
  return [share ? make('span', {}, share, ' ') : null, make('label', {}, 'missing = ', input)];
};

const ask = async (column) => {
  if (await change('target', { column })) openTab('answer');
};
const row = (column, study) => {
  const isOut = column.kind === 'left out';
  const isTarget = study.target === column.name;
  const isRead = !['node', 'not read'].includes(column.kind);
  const leave = button(
    { 'data-key': `out ${column.name}`, 'aria-label': `${isOut ? 'Take in' : 'Leave out'} ${column.name}` },
    () => change('drop', { column: column.name, out: !isOut }),
    isOut ? 'Take in' : 'Leave out',
  );
  const cannot = isOut || column.kind === 'set aside';
  const question = button(
    { class: 'ask', 'data-key': `ask ${column.name}`, 'aria-label': `Ask about ${column.name}`, disabled: cannot },
    () => ask(column.name),
    isTarget ? 'Asked' : 'Ask',
  );
  const classes = [isOut && 'is-out', isTarget && 'is-target', column.kind === 'set aside' && 'is-aside'];
  return make(
    'tr',
    { class: classes.filter(Boolean).join(' '), 'data-column': column.name },
    make('th', { scope: 'row' }, name(column.name)),
    make('td', {}, kindOf(column, study)),
    make('td', {}, bars(column)),
    make('td', { class: 'detail' }, ...sentence(column.detail)),
    make('td', { class: 'missing' }, ...(isOut || !isRead ? [] : missing(column, study, table.rows))),
    make('td', { class: 'acts' }, question, table.rows === null && !isRead && !isOut ? null : leave),
  );
};

const found = () => {
  const words = sought.trim().toLocaleLowerCase();
  return table.columns.filter((column) => column.name.toLocaleLowerCase().includes(words));
};
const pager = (all) => {
  const pages = Math.ceil(all.length / atOnce);
  if (pages < 2) return null;
  const turn = (by) => () => {
    page = Math.min(pages - 1, Math.max(0, page + by));
    show();
  };
  const last = Math.min(all.length, (page + 1) * atOnce);
  return make(
    'div',
    { class: 'pager' },
    button({ 'data-key': 'earlier', disabled: page === 0 }, turn(-1), 'Earlier'),
    make('span', { role: 'status' }, `${page * atOnce + 1} to ${last} of ${all.length.toLocaleString('en')} columns`),
    button({ 'data-key': 'later', disabled: page === pages - 1 }, turn(1), 'Later'),
  );
};

const everywhere = (study) => {
  const input = make('input', {
    type: 'text',
    size: 8,
    value: (study.na['*'] ?? []).join(', '),
    'data-key': 'missing *',
    placeholder: 'e.g. -9',
    autocomplete: 'off',
  });
  input.addEventListener('change', () => {
    const codes = input.value
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
    change('missing', { column: '*', codes });
  });
  return make('label', {}, 'Missing in all columns = ', input);
};

const standsOut = () => {
  const lines = [
    ...(table.duplicates ?? []).map((group) => `copies of each other: ${group.join(', ')}`),
    ...(table.constant?.length ? [`never vary: ${table.constant.join(', ')}`] : []),
    ...(table.derived ?? []).map((one) => ['derived: ', ...[one].flat()]),
    ...(table.defined ?? []).map(([target, one]) => [`if you ask about ${target}: `, ...[one].flat()]),
    ...(table.repeated ? [`${count(table.repeated, 'row repeats', 'rows repeat')} an earlier one`] : []),
    ...(table.notes ?? []),
  ];
  if (!lines.length) return null;
  return make(
    'div',
    { class: 'out' },
    make('h3', {}, 'What stands out'),
    make('ul', {}, ...lines.map((line) => make('li', {}, ...sentence(line)))),
  );
};

const show = () => {
  const { study } = shown;
  if (!table || !study) return;
  const all = found();
  page = Math.min(page, Math.max(0, Math.ceil(all.length / atOnce) - 1));
  refill(byId('table'), [table, study, page, sought], () => {
    const search = make('input', {
      type: 'search',
      value: sought,
      placeholder: 'Search a column',
      'aria-label': 'Search a column',
      'data-key': 'search',
      autocomplete: 'off',
      spellcheck: 'false',
    });
    search.addEventListener('input', () => {
      sought = search.value;
      page = 0;
      show();
    });
    const size = [
      table.rows === null ? null : count(table.rows, 'row', 'rows'),
      count(table.columns.length, 'column', 'columns'),
    ];
    const heads = ['Column', 'Kind', 'Spread', 'Values', 'Missing', 'Question'];
    return [
      make('h2', {}, 'Which column matters?'),
      make(
        'div',
        { class: 'bar' },
        make('span', {}, size.filter(Boolean).join(', ')),
        search,
        table.rows === null ? null : everywhere(study),
      ),
      rowSettings(table.controls, study, allNames(study)),
      make(
        'div',
        { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Columns' },
        make(
          'table',
          {},
          make('thead', {}, make('tr', {}, ...heads.map((one) => make('th', { scope: 'col' }, one)))),
          make('tbody', {}, ...all.slice(page * atOnce, (page + 1) * atOnce).map((one) => row(one, study))),
        ),
      ),
      all.length ? null : make('p', { class: 'hint' }, 'no such column'),
      pager(all),
      standsOut(),
    ];
  });
};

// Also the columns that say something of the rows, and are no columns to ask about.
const allNames = (study) => [
  ...new Set([...columnNames(), ...Object.values(study.further).flat()].filter((one) => typeof one === 'string')),
];
export const columnNames = () =>
  (table?.columns ?? []).filter(({ kind }) => kind !== 'left out').map((one) => one.name);

// The columns come once for each time that they were looked at; what did not arrive is asked for again.
const read = async () => {
  if (isReading) return;
  isReading = true;
  const wanted = shown.columns.of;
  const arrived = await attempt(() => get('/api/columns'));
  isReading = false;
  if (arrived) {
    table = arrived;
    seen = wanted;
    show();
  }
  if (shown.columns.of !== seen) setTimeout(read, arrived ? 0 : 1000);
};
export const showTable = (state) => {
  shown = state;
  if (!state.study.source) table = null;
  if (state.columns.of !== seen) read();
  show();
};
