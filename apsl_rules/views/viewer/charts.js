// What a table says: the effect along an edge, the counts, boxes or points behind it, and the levels of a node.
import { make, sign, thousands } from './elements.js';
import { data, nameOf } from './page.js';

export const effectBlock = (edge) =>
  edge.effect === undefined
    ? []
    : [
        make(
          'section',
          { class: 'effect' },
          make('h3', {}, 'Effect'),
          ...edge.effect.map((line) => make('p', {}, make('bdi', {}, line))),
        ),
      ];

const countTable = ({ nodes, levels, counts }) => {
  const totals = counts.map((row) => row.reduce((sum, one) => sum + one, 0));
  const cell = (rows, total) =>
    make(
      'td',
      { class: 'figure' },
      thousands(rows),
      make('small', {}, total ? ` ${Math.round((100 * rows) / total)} %` : ''),
    );
  return make(
    'div',
    { class: 'scroll' },
    make(
      'table',
      { class: 'counts' },
      make('caption', {}, 'Rows, and shares within each level of ', nameOf(nodes[0])),
      make(
        'thead',
        {},
        make('tr', {}, make('td'), make('th', { scope: 'colgroup', colspan: levels[1].length }, nameOf(nodes[1]))),
        make(
          'tr',
          {},
          make('th', { scope: 'col' }, nameOf(nodes[0])),
          ...levels[1].map((level) => make('th', { scope: 'col' }, make('bdi', {}, level))),
        ),
      ),
      make(
        'tbody',
        {},
        ...counts.map((row, place) =>
          make(
            'tr',
            {},
            make('th', { scope: 'row' }, make('bdi', {}, levels[0][place])),
            ...row.map((rows) => cell(rows, totals[place])),
          ),
        ),
      ),
    ),
  );
};

// A chart has its values from left to right and from below to above, within a frame with the ends of each axis.
const frame = { left: 52, right: 300, top: 10, bottom: 170 };
const scaled = (low, high, from, to) => (value) =>
  Number((high > low ? from + ((to - from) * (value - low)) / (high - low) : (from + to) / 2).toFixed(1));
const short = (value) => Number(value.toPrecision(3)).toLocaleString('en');
const letters = (x, y, anchor, text) => sign('text', { x, y, 'text-anchor': anchor }, text);
const drawingOf = (label, ...children) =>
  sign(
    'svg',
    { class: 'chart', viewBox: '0 0 310 206', role: 'img', 'aria-label': label },
    sign('rect', {
      class: 'frame',
      x: frame.left,
      y: frame.top,
      width: frame.right - frame.left,
      height: frame.bottom - frame.top,
    }),
    ...children,
  );
const heightAxis = (low, high) => [
  letters(frame.left - 5, frame.top + 9, 'end', short(high)),
  letters(frame.left - 5, frame.bottom, 'end', short(low)),
];

const pointChart = ({ nodes, points, rows }) => {
  const ends = [0, 1].map((at) => [
    Math.min(...points.map((one) => one[at])),
    Math.max(...points.map((one) => one[at])),
  ]);
  const across = scaled(...ends[0], frame.left + 6, frame.right - 6);
  const up = scaled(...ends[1], frame.bottom - 6, frame.top + 6);
  const said = `${data.names[nodes[1]]} by ${data.names[nodes[0]]}`;
  const shownRows =
    points.length < rows ? `${thousands(points.length)} of ${thousands(rows)} rows` : `${thousands(rows)} rows`;
  return [
    make('p', { class: 'hint' }, nameOf(nodes[1]), ' (upwards) by ', nameOf(nodes[0]), `, ${shownRows}`),
    drawingOf(
      said,
      ...points.map(([x, y]) => sign('circle', { class: 'point', cx: across(x), cy: up(y), r: 2 })),
      ...heightAxis(...ends[1]),
      letters(frame.left, frame.bottom + 14, 'start', short(ends[0][0])),
      letters(frame.right, frame.bottom + 14, 'end', short(ends[0][1])),
    ),
  ];
};

const boxChart = ({ nodes, levels, boxes, rows }) => {
  const known = boxes.filter((one) => one !== null);
  const [low, high] = [Math.min(...known.map((one) => one[0])), Math.max(...known.map((one) => one[4]))];
  const up = scaled(low, high, frame.bottom - 6, frame.top + 6);
  const wide = (frame.right - frame.left) / levels.length;
  const most = Math.max(3, Math.floor(wide / 5.5)); // letters that fit below a box
  const one = (box, place) => {
    const middle = Number((frame.left + wide * (place + 0.5)).toFixed(1));
    const half = Number(Math.min(18, wide * 0.32).toFixed(1));
    const said = levels[place].length > most ? `${levels[place].slice(0, most - 1)}…` : levels[place];
    const title = sign('title', {}, `${levels[place]}: ${thousands(rows[place])} rows`);
    if (box === null)
      return sign('g', { class: 'quartiles' }, title, letters(middle, frame.bottom + 14, 'middle', said));
    const [least, first, median, third, largest] = box.map(up);
    return sign(
      'g',
      { class: 'quartiles' },
      title,
      sign('path', { d: `M${middle} ${least}V${first}M${middle} ${third}V${largest}` }),
      sign('rect', { x: middle - half, y: third, width: 2 * half, height: Math.max(1, first - third) }),
      sign('path', { class: 'median', d: `M${middle - half} ${median}h${2 * half}` }),
      letters(middle, frame.bottom + 14, 'middle', said),
    );
  };
  return [
    make(
      'p',
      { class: 'hint' },
      nameOf(nodes[1]),
      ' (upwards) by the levels of ',
      nameOf(nodes[0]),
      ': quartiles, least and largest',
    ),
    drawingOf(
      `${data.names[nodes[1]]} by the levels of ${data.names[nodes[0]]}`,
      ...boxes.map(one),
      ...heightAxis(low, high),
    ),
  ];
};

// Two categories in each stratum of others: a bar for each level of the first, cut by the shares of the second.
const shades = 6;
const stratumBars = ({ nodes, levels }, { words, rows, counts }) => {
  const long = (text) => (text.length > 14 ? `${text.slice(0, 13)}…` : text);
  const totals = counts.map((row) => row.reduce((sum, one) => sum + one, 0));
  const line = (row, place) => {
    let from = 100;
    const piece = (its, at) => {
      const wide = totals[place] ? (200 * its) / totals[place] : 0;
      const told = `${levels[1][at]} ${share(its, totals[place])} of ${thousands(totals[place])} rows`;
      const bar = sign(
        'rect',
        { class: `share-${at % shades}`, x: from.toFixed(1), y: place * 18, width: wide.toFixed(1), height: 14 },
        sign('title', {}, `${levels[0][place]}: ${told}`),
      );
      from += wide;
      return bar;
    };
    return [letters(95, place * 18 + 11, 'end', long(levels[0][place])), ...row.map(piece)];
  };
  const shares = (row, place) => row.map((its, at) => `${levels[1][at]} ${share(its, totals[place])}`).join(', ');
  const said = counts.map((row, place) => `${levels[0][place]}: ${shares(row, place)}`).join('; ');
  const label = `${data.names[nodes[1]]} by ${data.names[nodes[0]]}: ${said}`;
  return [
    make(
      'p',
      { class: 'stratum' },
      make('bdi', {}, words || 'all rows'),
      make('small', {}, ` ${thousands(rows)} rows`),
    ),
    sign(
      'svg',
      { class: 'chart', viewBox: `0 0 310 ${counts.length * 18}`, role: 'img', 'aria-label': label },
      ...counts.flatMap(line),
    ),
  ];
};
const strataChart = (chart) => {
  const { nodes, levels, strata, others } = chart;
  return [
    make('p', { class: 'hint' }, 'Shares of ', nameOf(nodes[1]), ' within each level of ', nameOf(nodes[0])),
    make(
      'ul',
      { class: 'shares' },
      ...levels[1].map((level, at) =>
        make('li', {}, make('span', { class: `swatch share-${at % shades}` }), make('bdi', {}, level)),
      ),
    ),
    ...strata.flatMap((one) => stratumBars(chart, one)),
    ...(others.strata
      ? [
          make(
            'p',
            { class: 'hint' },
            `and ${thousands(others.rows)} rows in ${thousands(others.strata)} smaller strata`,
          ),
        ]
      : []),
  ];
};
export const chartOf = (chart) =>
  ({ table: (one) => [countTable(one)], points: pointChart, boxes: boxChart, strata: strataChart })[chart.kind](chart);

export const chartBlock = (edge) => {
  if (edge.chart === undefined) {
    return data.with_effects && edge.within
      ? [make('p', { class: 'hint' }, 'No chart: the rows stay elsewhere, or there are too many levels.')]
      : [];
  }
  return [
    make(
      'section',
      { class: 'behind' },
      make('h3', {}, 'The rows behind it'),
      ...chartOf(edge.chart),
      make('p', { class: 'hint' }, 'Counted as they are, without adjustment.'),
    ),
  ];
};

// --- a node: its kind, how its values are spread, and how many are missing --------------------------------------------
const share = (rows, all) => {
  const percent = all ? (100 * rows) / all : 0;
  if (percent > 0 && percent < 1) return '<1 %';
  return percent < 100 && percent > 99 ? '>99 %' : `${Math.round(percent)} %`;
};
const missingWords = (missing, rows) => {
  if (missing === 0) return 'no value is missing';
  return rows === undefined
    ? `${thousands(missing)} missing`
    : `${share(missing, rows)} missing (${thousands(missing)} of ${thousands(rows)} rows)`;
};
const kindBlock = ({ column, distribution }) => {
  const kind = column ? column.kind : distribution && distribution.kind;
  if (!kind) return [];
  const missing = distribution && distribution.missing !== undefined ? distribution.missing : column && column.missing;
  const rows = distribution ? distribution.rows : undefined;
  const words = [kind, column && column.detail, missing === undefined ? null : missingWords(missing, rows)].filter(
    Boolean,
  );
  return [
    make(
      'p',
      { class: 'kind' },
      make('b', {}, words[0]),
      make(
        'bdi',
        {},
        words
          .slice(1)
          .map((one) => ` · ${one}`)
          .join(''),
      ),
    ),
  ];
};
const levelBars = ({ levels, others, rows, missing }) => {
  const most = Math.max(1, ...levels.map((level) => level.rows));
  const known = rows - missing;
  const bar = (name, its) =>
    make(
      'tr',
      {},
      make('th', { scope: 'row' }, make('bdi', {}, name)),
      make('td', { class: 'bar' }, make('progress', { max: most, value: its, 'aria-hidden': 'true' })),
      make('td', { class: 'figure' }, thousands(its)),
      make('td', { class: 'figure' }, share(its, known)),
    );
  return [
    make(
      'table',
      { class: 'spread' },
      make('caption', {}, 'Rows and share of each level'),
      make('tbody', {}, ...levels.map((level) => bar(level.name, level.rows))),
    ),
    ...(others.levels
      ? [make('p', { class: 'hint' }, `and ${thousands(others.levels)} rarer levels, ${thousands(others.rows)} rows`)]
      : []),
  ];
};
const histogram = ({ counts, low, high, quartiles }, name) => {
  const most = Math.max(1, ...counts);
  const wide = (frame.right - frame.left) / counts.length;
  const up = scaled(0, most, frame.bottom, frame.top + 4);
  const bars = counts.map((rows, at) => {
    const from = low + ((high - low) * at) / counts.length;
    const to = low + ((high - low) * (at + 1)) / counts.length;
    return sign(
      'rect',
      {
        class: 'column',
        x: (frame.left + at * wide + 0.5).toFixed(1),
        y: up(rows),
        width: Math.max(0.5, wide - 1).toFixed(1),
        height: (frame.bottom - up(rows)).toFixed(1),
      },
      sign('title', {}, `${short(from)} to ${short(to)}: ${thousands(rows)} rows`),
    );
  });
  return [
    drawingOf(
      `Histogram of ${name}`,
      ...bars,
      ...heightAxis(0, most),
      letters(frame.left, frame.bottom + 14, 'start', short(low)),
      letters(frame.right, frame.bottom + 14, 'end', short(high)),
    ),
    make(
      'dl',
      { class: 'levels' },
      ...Object.entries(quartiles).flatMap(([word, figure]) => [make('dt', {}, word), make('dd', {}, figure)]),
    ),
  ];
};
export const nodeBlock = (number) => {
  const node = data.nodes[number];
  const { distribution } = node;
  const spread =
    distribution && distribution.levels
      ? levelBars(distribution)
      : distribution && distribution.counts
        ? histogram(distribution, data.names[number])
        : [];
  return [
    ...kindBlock(node),
    ...(spread.length ? [make('section', { class: 'values' }, make('h3', {}, 'Values'), ...spread)] : []),
  ];
};
