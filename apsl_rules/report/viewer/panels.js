// The panel beside the drawing: why, edges, conflicts and the run; and the search.
const panel = byId('panel');
const tabs = ['why', 'edges', 'conflicts', 'run'];
const panelBody = () => panel;

const edgeButton = (number, ...more) => {
  const edge = data.edges[number];
  return button({ class: 'edge', 'data-edge': number, 'aria-label': edgeSpoken(edge) },
    () => choose({ kind: 'edge', number }, true), ...edgeWords(edge), ...more);
};
const conflictsOf = (edge) => data.conflicts.filter((one) => one.edge === edge);

const edgePanel = (number) => {
  const edge = data.edges[number];
  const look = lastLook(edge);
  if (look === 'none') {
    return [make('h2', { tabindex: -1 }, ...joinedPair(edge)), make('p', {}, 'Drawn for a while, but not in the finished part.')];
  }
  const figures = [...(edge.p === null ? [] : [['largest p', edge.p]]), ...edge.figures.map(([name, figure]) => [name, figure.toFixed(2)])];
  const contradicted = conflictsOf(number);
  return [
    make('h2', { tabindex: -1 }, ...edgeWords(edge, look)),
    make('p', { class: 'facts' }, { line: 'Joined; the direction is open.', 'maybe ahead': 'Joined; the direction is only suggested.', 'maybe back': 'Joined; the direction is only suggested.', ahead: isCause, back: isCause,
      'partial ahead': mayBeCause(edge, look), 'partial back': mayBeCause(edge, look), 'two heads': 'They share a hidden common cause: neither is a cause of the other.', open: 'Joined; nothing is known of either end.' }[look] || 'In conflict: no arrow is drawn.',
      edge.within ? '' : ' Beyond the asked depth.', ...figures.map(([name, figure]) => make('span', { class: 'chip' }, `${name} ${figure}`))),
    ...effectBlock(edge),
    foldButtons(panelBody),
    ...(look === 'conflict' && contradicted.length ? [] : edgeProofs(edge)),
    ...chartBlock(edge),
    ...contradicted.map(conflictBlock),
  ];
};
const isCause = data.hidden ? 'An arrow: the first is a cause of the second.' : 'An arrow.';
const mayBeCause = (edge, look) => {
  const [x, y] = edgeEnds(edge, look).map((node) => data.names[node]);
  return `${y} is no cause of ${x}. ${x} is a cause of ${y}, or they share a hidden common cause.`;
};
// An edge with two arrowheads has a proof for each of them.
const edgeProofs = (edge) => edge.other === null ? [proofTree(edge.proof)] : edge.ends.flatMap((node, place) =>
  [make('h3', {}, 'The arrowhead at ', nameOf(node)), proofTree(place ? edge.other : edge.proof)]);
const joinedPair = (edge) => [nameOf(edge.ends[0]), ' and ', nameOf(edge.ends[1])];

const conflictPanel = (number) => {
  const conflict = data.conflicts[number];
  return [make('h2', { tabindex: -1 }, nameOf(conflict.pair[0]), make('span', { class: 'mark is-conflict' }, ' ✕ '), nameOf(conflict.pair[1])),
    foldButtons(panelBody), conflictBlock(conflict)];
};

const steps = (count) => count === 1 ? '1 step' : `${count} steps`;
const nodePanel = (number) => {
  const box = data.boxes[number];
  const visit = data.visits.findIndex((one) => one[0] === number);
  const mine = data.edges.map((edge, at) => [edge, at]).filter(([edge]) => edge.ends.includes(number) && lastLook(edge) !== 'none');
  const groups = { 'Arrows to it': [], 'Arrows from it': [], 'Hidden common cause': [], 'Direction open': [], 'In conflict': [] };
  for (const [edge, at] of mine) {
    const look = lastLook(edge);
    const away = look === 'both' ? null : edgeEnds(edge, look)[0] === number;
    const group = looksLike[look] === 'arrow' ? (away ? 'Arrows from it' : 'Arrows to it')
      : looksLike[look] === 'hidden' ? 'Hidden common cause' : looksLike[look] === 'line' ? 'Direction open' : 'In conflict';
    groups[group].push(at);
  }
  const where = number === data.target ? 'The target.' : `${steps(box.layer)} from the target.`;
  return [
    make('h2', {}, nameOf(number)),
    make('p', { class: 'facts' }, where, box.within ? '' : ' Beyond the asked depth.',
      visit < 0 ? ' Not visited.' : ` Visit ${visit + 1} of ${data.visits.length}.`),
    ...levelBlock(box),
    ...Object.entries(groups).filter(([, list]) => list.length).flatMap(([title, list]) =>
      [make('h3', {}, title), make('ul', { class: 'list' }, ...list.map((at) => make('li', {}, edgeButton(at))))]),
  ];
};

const whyPanel = () => {
  if (state.chosen === null) {
    return [make('p', { class: 'hint' }, 'Choose an edge to see its proof, or a node to see its edges.')];
  }
  return { edge: edgePanel, node: nodePanel, conflict: conflictPanel }[state.chosen.kind](state.chosen.number);
};

const reasonOf = (edge) => {
  const why = edge.proof === null ? null : data.steps[edge.proof][1];
  if (typeof why === 'string') return why;
  return why !== null && data.evidence[why].source === 'given' ? 'given' : 'found';
};
const edgeList = (chosen) => make('ul', { class: 'list' }, ...chosen.map((number) => {
  const edge = data.edges[number];
  const figures = [reasonOf(edge), edge.p === null ? null : `p ${edge.p}`, ...edge.figures.map(([name, figure]) => `${name} ${figure.toFixed(2)}`)];
  return make('li', {}, edgeButton(number, make('small', {}, figures.filter(Boolean).join(' · '))));
}));
const edgesPanel = () => {
  const numbers = data.edges.map((_, number) => number).filter((number) => lastLook(data.edges[number]) !== 'none');
  const within = numbers.filter((number) => data.edges[number].within);
  const beyond = numbers.filter((number) => !data.edges[number].within);
  return [make('h2', {}, `${count(within.length, 'edge', 'edges')} of the part`), edgeList(within),
    ...(beyond.length ? [make('details', { class: 'more' }, make('summary', {}, `${beyond.length} beyond the asked depth`), edgeList(beyond))] : [])];
};

const conflictsPanel = () => [
  make('h2', {}, data.conflicts.length ? 'Contradictions in the findings' : 'No conflicts'),
  data.conflicts.length ? null : make('p', { class: 'hint' }, 'No finding contradicts another.'),
  make('ul', { class: 'list' }, ...data.conflicts.map((conflict, number) =>
    make('li', {}, button({ class: 'edge', 'data-conflict': number }, () => choose({ kind: 'conflict', number }, true),
      make('span', { class: 'mark is-conflict' }, '✕ '), make('bdi', {}, conflict.text))))),
].filter(Boolean);

const columnTable = () => make('table', { class: 'columns' },
  make('thead', {}, make('tr', {}, ...['column', 'kind', 'read as', 'missing'].map((head) => make('th', { scope: 'col' }, head)))),
  make('tbody', {}, ...data.columns.map((cells) => make('tr', {}, ...cells.map((cell) => make('td', {}, make('bdi', {}, String(cell))))))));
const runPanel = () => [
  make('h2', {}, 'The run'),
  ...data.notes.map((note) => make('p', { class: 'note' }, make('bdi', {}, note))),
  make('dl', {}, ...data.run.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, make('bdi', {}, value))])),
  ...(data.columns.length ? [make('h3', {}, 'Columns'), columnTable()] : []),
  make('h3', {}, 'Visits'),
  make('ol', { class: 'visits' }, ...data.visits.map(([node, around, , end]) => make('li', {},
    button({ class: 'edge' }, () => moveTo(end), nameOf(node)), ' ', make('small', {}, ...(around.length ? joined(around) : ['no neighbours']))))),
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
const openTab = (name) => {
  state.tab = name;
  showPanel();
};
tabs.forEach((name, place) => {
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
});
byId('tab-conflicts').append(` ${data.conflicts.length}`);

// Choosing by a button of the panel leads the keyboard to what opens.
const choose = (chosen, follow = false) => {
  state.chosen = chosen;
  state.tab = 'why';
  showPanel();
  redraw();
  if (follow) panel.querySelector('h2').focus({ preventScroll: true });
};
const chooseNothing = () => {
  const { chosen } = state;
  state.chosen = null;
  showPanel();
  redraw();
  const edge = chosen && chosen.kind !== 'node' ? (chosen.kind === 'edge' ? chosen.number : data.conflicts[chosen.number].edge) : null;
  const node = chosen && chosen.kind === 'node' ? chosen.number : typeof edge === 'number' ? data.edges[edge].ends[0] : data.target;
  boxes[node].group.focus({ preventScroll: true });
};

// --- search -----------------------------------------------------------------------------------------------------------
const search = byId('search');
const matches = byId('matches');
const found = (words) => {
  const sought = words.trim().toLocaleLowerCase();
  if (!sought) return [];
  const ranked = data.boxes.map((_, number) => [data.names[number].toLocaleLowerCase().indexOf(sought), number]);
  return ranked.filter(([at]) => at >= 0).sort((one, other) => (one[0] > 0) - (other[0] > 0) || one[1] - other[1]).map(([, number]) => number);
};
const goTo = (number) => {
  matches.hidden = true;
  if (isHidden(data.boxes[number].within)) byId('beyond').click();
  choose({ kind: 'node', number });
  focusNode(number);
  boxes[number].group.focus({ preventScroll: true });
};
const showMatches = () => {
  const hits = found(search.value);
  matches.replaceChildren(...hits.slice(0, 8).map((number) => make('li', {}, button({ 'data-node': number }, () => goTo(number), nameOf(number)))));
  if (search.value.trim() && !hits.length) matches.append(make('li', { class: 'hint' }, 'no such node'));
  matches.hidden = !search.value.trim();
};
search.addEventListener('input', showMatches);
search.addEventListener('focus', showMatches);
search.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && found(search.value).length) goTo(found(search.value)[0]);
  else if (event.key === 'ArrowDown' && matches.querySelector('button')) matches.querySelector('button').focus();
  else return;
  event.preventDefault();
});
matches.addEventListener('keydown', (event) => {
  const items = [...matches.querySelectorAll('button')];
  const place = items.indexOf(document.activeElement);
  if (event.key === 'ArrowDown' && place + 1 < items.length) items[place + 1].focus();
  else if (event.key === 'ArrowUp') (place ? items[place - 1] : search).focus();
  else return;
  event.preventDefault();
});
document.addEventListener('focusin', (event) => { if (!event.target.closest('.search')) matches.hidden = true; });
