// Proofs as trees that fold: rules inside, findings with their tests at the leaves.
const stepsUnder = (roots) => {
  const seen = new Set();
  const open = roots.filter((root) => root !== null);
  while (open.length) {
    const step = open.pop();
    if (seen.has(step)) continue;
    seen.add(step);
    open.push(...data.steps[step][2]);
  }
  return [...seen];
};

const decisions = { independent: ['', ' ⊥ '], dependent: ['', ' not ⊥ '], unreliable: ['too few rows to test ', ' against '] };
const joined = (nodes) => nodes.flatMap((node, place) => place ? [', ', nameOf(node)] : [nameOf(node)]);
const statement = ([x, y, given, decision]) => {
  const [before, between] = decisions[decision];
  return [before, nameOf(x), between, nameOf(y), ...(given.length ? [' | ', ...joined(given)] : [])];
};

const testTable = (verdicts) => {
  if (verdicts.every((verdict) => verdict[4] === null && verdict[6] === null)) {
    return make('ul', { class: 'verdicts' }, ...verdicts.map((verdict) => make('li', {}, ...statement(verdict))));
  }
  const cell = (figure) => make('td', { class: 'figure' }, figure === null ? '' : String(figure));
  return make('div', { class: 'scroll' }, make('table', { class: 'tests' },
    make('thead', {}, make('tr', {}, ...['test', 'dof', 'p', 'n'].map((head) => make('th', { scope: 'col' }, head)))),
    ...verdicts.map((verdict) => make('tbody', {},
      make('tr', { class: 'statement' }, make('td', { colspan: 4 }, ...statement(verdict))),
      make('tr', {}, ...verdict.slice(4).map(cell))))));
};

const evidenceBlock = (number) => {
  const { source, note, verdicts } = data.evidence[number];
  return make('div', { class: 'evidence' },
    make('p', { class: 'source' }, source === 'given' ? '' : 'found by ', make('b', {}, source), note ? `: ${note}` : ''),
    verdicts.length ? testTable(verdicts) : null);
};

// Build the tree from a fact down; a step that is used again is unfolded once.
const proofTree = (root) => {
  const shown = new Set();
  const folded = stepsUnder([root]).length > 40;
  const branch = (step, level) => {
    const [fact, why, premises] = data.steps[step];
    if (typeof why === 'number') {
      return make('li', { class: 'leaf', 'data-step': step }, factWords(fact), evidenceBlock(why));
    }
    const rule = make('span', { class: 'rule' }, shown.has(step) ? `${why}, shown above` : why);
    if (shown.has(step)) return make('li', { class: 'leaf' }, factWords(fact), ' ', rule);
    shown.add(step);
    return make('li', { 'data-step': step }, make('details', { open: !folded || level < 2 },
      make('summary', {}, factWords(fact), ' ', rule),
      make('ul', {}, ...premises.map((premise) => branch(premise, level + 1)))));
  };
  return make('ul', { class: 'proof' }, branch(root, 0));
};

const foldButtons = (place) => {
  const all = (open) => () => place().querySelectorAll('details').forEach((one) => { one.open = open; });
  return make('p', { class: 'folding' }, button({}, all(true), 'Unfold all'), button({}, all(false), 'Fold all'));
};

const conflictBlock = (conflict) => make('section', { class: 'conflict' },
  make('p', { class: 'warning' }, make('bdi', {}, conflict.text)),
  ...conflict.sides.flatMap((side, number) => [make('h3', {}, `Side ${number + 1}`), proofTree(side)]));
