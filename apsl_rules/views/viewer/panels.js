// The panel beside the drawing: why, edges, conflicts and the run.
import { button, byId, count, make } from './elements.js';
import { data, nameOf, namesOf } from './page.js';
import { edgeEnds, edgeSpoken, edgeWords, lastLook, looks } from './words.js';
import { choose, chooseNothing, edgeOf, moveTo, on, openTab, showView, state } from './state.js';
import { drawn } from './scene.js';
import { focusOn } from './moving.js';
import { conflictBlock, foldButtons, proofTree } from './proof.js';
import { edgePlot } from './given.js';
import { chartBlock, effectBlock, nodeBlock } from './charts.js';

const panel = byId('panel');
const tabs = ['why', 'edges', 'conflicts', 'run'];
const panelBody = () => panel;

const edgeButton = (number, ...more) => {
  const edge = data.edges[number];
  return button(
    { class: 'edge', 'data-edge': number, 'aria-label': edgeSpoken(edge) },
    () => choose({ kind: 'edge', number }, true),
    ...edgeWords(edge),
    ...more,
  );
};
const conflictsOf = (edge) => data.conflicts.filter((one) => one.edge === edge);

const edgePanel = (number) => {
  const edge = data.edges[number];
  const look = lastLook(edge);
  if (look === 'none') {
    return [
      make('h2', { tabindex: -1 }, ...joinedPair(edge)),
      make('p', {}, 'Drawn for a while, but not in the finished part.'),
    ];
  }
  const figures = [
    ...(edge.p === undefined ? [] : [['largest p', edge.p]]),
    ...edge.figures.map(({ name, value }) => [name, value.toFixed(2)]),
  ];
  const contradicted = conflictsOf(number);
  return [
    make('h2', { tabindex: -1 }, ...edgeWords(edge, look)),
    make(
      'p',
      { class: 'facts' },
      {
        line: 'Joined; the direction is open.',
        'maybe ahead': 'Joined; the direction is only suggested.',
        'maybe back': 'Joined; the direction is only suggested.',
        ahead: isCause,
        back: isCause,
        'partial ahead': mayBeCause(edge, look),
        'partial back': mayBeCause(edge, look),
        'two heads': 'They share a hidden common cause: neither is a cause of the other.',
        open: 'Joined; nothing is known of either end.',
      }[look] || 'In conflict: no arrow is drawn.',
      edge.within ? '' : ' Beyond the asked depth.',
      ...figures.map(([name, figure]) => make('span', { class: 'chip' }, `${name} ${figure}`)),
    ),
    ...effectBlock(edge),
    foldButtons(panelBody),
    ...(look === 'conflict' && contradicted.length ? [] : edgeProofs(edge)),
    ...chartBlock(edge),
    ...edgePlot(edge, edgeEnds(edge, look)),
    ...contradicted.map(conflictBlock),
  ];
};
const isCause = data.hidden ? 'An arrow: the first is a cause of the second.' : 'An arrow.';
const mayBeCause = (edge, look) => {
  const [x, y] = edgeEnds(edge, look).map((node) => data.names[node]);
  return `${y} is no cause of ${x}. ${x} is a cause of ${y}, or they share a hidden common cause.`;
};
// An edge with two arrowheads has a proof for each of them.
const edgeProofs = (edge) =>
  edge.other === undefined
    ? [proofTree(edge.proof)]
    : edge.ends.flatMap((node, place) => [
        make('h3', {}, 'The arrowhead at ', nameOf(node)),
        proofTree(place ? edge.other : edge.proof),
      ]);
const joinedPair = (edge) => [nameOf(edge.ends[0]), ' and ', nameOf(edge.ends[1])];

const conflictPanel = (number) => {
  const conflict = data.conflicts[number];
  return [
    make(
      'h2',
      { tabindex: -1 },
      nameOf(conflict.pair[0]),
      make('span', { class: 'mark is-conflict' }, ' ✕ '),
      nameOf(conflict.pair[1]),
    ),
    foldButtons(panelBody),
    conflictBlock(conflict),
  ];
};

const groupOf = (edge, number) => {
  const look = lastLook(edge);
  const { kind } = looks[look];
  if (kind === 'arrow') return edgeEnds(edge, look)[0] === number ? 'Effects of it' : 'Causes of it';
  return { hidden: 'Hidden common cause', line: 'Direction open', conflict: 'In conflict' }[kind];
};
const furtherButton = (number, mine) => {
  const further = mine.filter(([edge, at]) => edge.within && !drawn.edges.has(at)).length;
  const next = data.views.findIndex((view, at) => at > state.view && view.boxes.some(({ node }) => node === number));
  if (!further || next < 0) return [];
  const act = () => {
    showView(next);
    focusOn(number);
  };
  return [
    make('p', { class: 'more' }, button({}, act, `Show ${count(further, 'further neighbour', 'further neighbours')}`)),
  ];
};
const nodePanel = (number) => {
  const node = data.nodes[number];
  const visit = data.visits.findIndex((one) => one.node === number);
  const mine = data.edges
    .map((edge, at) => [edge, at])
    .filter(([edge]) => edge.ends.includes(number) && lastLook(edge) !== 'none');
  const groups = {
    'Causes of it': [],
    'Effects of it': [],
    'Hidden common cause': [],
    'Direction open': [],
    'In conflict': [],
  };
  for (const [edge, at] of mine) groups[groupOf(edge, number)].push(at);
  const where = number === data.target ? 'The target.' : `${count(node.layer, 'step', 'steps')} from the target.`;
  return [
    make('h2', {}, nameOf(number)),
    make(
      'p',
      { class: 'facts' },
      where,
      node.within ? '' : ' Beyond the asked depth.',
      visit < 0 ? ' Not visited.' : ` Visit ${visit + 1} of ${data.visits.length}.`,
    ),
    ...nodeBlock(number),
    ...Object.entries(groups)
      .filter(([, list]) => list.length)
      .flatMap(([title, list]) => [
        make('h3', {}, title),
        make('ul', { class: 'list' }, ...list.map((at) => make('li', {}, edgeButton(at)))),
      ]),
    ...furtherButton(number, mine),
  ];
};

const whyPanel = () => {
  if (state.chosen === null) {
    return [make('p', { class: 'hint' }, 'Choose an edge to see what it rests on, or a node to see its edges.')];
  }
  return { edge: edgePanel, node: nodePanel, conflict: conflictPanel }[state.chosen.kind](state.chosen.number);
};

const reasonOf = (edge) => {
  if (edge.proof === undefined) return 'found';
  const { rule, evidence } = data.steps[edge.proof];
  return rule || (data.evidence[evidence].source === 'given' ? 'given' : 'found');
};
const edgeList = (chosen) =>
  make(
    'ul',
    { class: 'list' },
    ...chosen.map((number) => {
      const edge = data.edges[number];
      const figures = [
        data.with_effects ? edge.text : null,
        reasonOf(edge),
        edge.p === undefined ? null : `p ${edge.p}`,
        ...edge.figures.map(({ name, value }) => `${name} ${value.toFixed(2)}`),
      ];
      return make('li', {}, edgeButton(number, make('small', {}, figures.filter(Boolean).join(' · '))));
    }),
  );
const distanceOf = (number) => Math.min(...data.edges[number].ends.map((node) => data.nodes[node].layer));
const edgesPanel = () => {
  const numbers = data.edges.map((_, number) => number).filter((number) => lastLook(data.edges[number]) !== 'none');
  const within = numbers.filter((number) => data.edges[number].within);
  const beyond = numbers.filter((number) => !data.edges[number].within);
  const near = within.filter((number) => distanceOf(number) === 0);
  const further = within
    .filter((number) => distanceOf(number) > 0)
    .toSorted((one, other) => distanceOf(one) - distanceOf(other));
  return [
    make('h2', {}, `${count(within.length, 'edge', 'edges')} of the part`),
    ...(near.length ? [make('h3', {}, 'At the target'), edgeList(near)] : []),
    ...(further.length ? [make('h3', {}, 'Further away'), edgeList(further)] : []),
    ...(beyond.length
      ? [
          make(
            'details',
            { class: 'more' },
            make('summary', {}, `${beyond.length} beyond the asked depth`),
            edgeList(beyond),
          ),
        ]
      : []),
  ];
};

const conflictsPanel = () =>
  [
    make('h2', {}, data.conflicts.length ? 'Contradictions in the findings' : 'No conflicts'),
    data.conflicts.length ? null : make('p', { class: 'hint' }, 'No finding contradicts another.'),
    make(
      'ul',
      { class: 'list' },
      ...data.conflicts.map((conflict, number) =>
        make(
          'li',
          {},
          button(
            { class: 'edge', 'data-conflict': number },
            () => choose({ kind: 'conflict', number }, true),
            make('span', { class: 'mark is-conflict' }, '✕ '),
            make('bdi', {}, conflict.text),
          ),
        ),
      ),
    ),
  ].filter(Boolean);

const listOf = (lines) =>
  make('dl', {}, ...lines.flatMap(({ name, value }) => [make('dt', {}, name), make('dd', {}, make('bdi', {}, value))]));
const columnTable = () => {
  const rows = data.nodes.map((node, number) => [number, node]).filter(([, node]) => node.within && node.column);
  if (!rows.length) return [];
  const cells = ([number, { column }]) => [data.names[number], column.kind, column.detail, String(column.missing)];
  return [
    make('h3', {}, 'Columns'),
    make(
      'div',
      { class: 'scroll' },
      make(
        'table',
        { class: 'columns' },
        make(
          'thead',
          {},
          make('tr', {}, ...['column', 'kind', 'read as', 'missing'].map((head) => make('th', { scope: 'col' }, head))),
        ),
        make(
          'tbody',
          {},
          ...rows.map((row) => make('tr', {}, ...cells(row).map((cell) => make('td', {}, make('bdi', {}, cell))))),
        ),
      ),
    ),
  ];
};
const visitItem = ({ node, neighbours, end }) =>
  make(
    'li',
    {},
    button({ class: 'edge' }, () => moveTo(end), nameOf(node)),
    ' ',
    make('small', {}, ...(neighbours.length ? namesOf(neighbours) : ['no neighbours'])),
  );
const runPanel = () => [
  make('h2', {}, 'The run'),
  ...data.notes.map((note) => make('p', { class: 'note' }, make('bdi', {}, note))),
  listOf(data.run),
  ...columnTable(),
  make(
    'details',
    { id: 'details', class: 'more' },
    make('summary', {}, 'Details: settings, cost and visits'),
    listOf(data.details),
    make('h3', {}, 'Visits'),
    make('ol', { class: 'visits' }, ...data.visits.map(visitItem)),
  ),
];

const showPanel = () => {
  for (const name of tabs) {
    const tab = byId(`tab-${name}`);
    tab.setAttribute('aria-selected', String(name === state.tab));
    tab.setAttribute('tabindex', name === state.tab ? 0 : -1);
  }
  panel.setAttribute('aria-labelledby', `tab-${state.tab}`);
  panel.replaceChildren(...{ why: whyPanel, edges: edgesPanel, conflicts: conflictsPanel, run: runPanel }[state.tab]());
  panel.scrollTop = 0;
};
const startTab = (name, place) => {
  const tab = byId(`tab-${name}`);
  tab.addEventListener('click', () => openTab(name));
  tab.addEventListener('keydown', (event) => {
    const turn = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!turn) return;
    const next = tabs[(place + turn + tabs.length) % tabs.length];
    openTab(next);
    byId(`tab-${next}`).focus();
    event.preventDefault();
    event.stopPropagation();
  });
};

// Close what is open, and lead the keyboard back to where it was chosen in the drawing.
export const closeChosen = () => {
  const chosen = chooseNothing();
  const edge = edgeOf(chosen);
  const wanted =
    chosen.kind === 'node' ? chosen.number : typeof edge === 'number' ? data.edges[edge].ends[0] : data.target;
  focusOn(drawn.boxes.has(wanted) ? wanted : data.target, { preventScroll: true });
};

export const startPanels = () => {
  byId('tab-conflicts').append(` ${data.conflicts.length}`);
  tabs.forEach(startTab);
  on('tab', showPanel);
  on('chosen', (follow) => {
    if (follow) panel.querySelector('h2').focus({ preventScroll: true });
  });
  showPanel();
};
