// Proofs as trees that fold: rules inside, findings with their tests at the leaves.
import { button, make } from './elements.js';
import { data, nameOf, namesOf } from './page.js';
import { factWords } from './words.js';
import { canPlot, plotButton } from './given.js';

export const stepsUnder = (roots) => {
  const seen = new Set();
  const open = roots.filter((root) => root !== null && root !== undefined);
  while (open.length) {
    const step = open.pop();
    if (seen.has(step)) continue;
    seen.add(step);
    open.push(...(data.steps[step].premises || []));
  }
  return [...seen];
};

const decisions = {
  independent: ['', ' ⊥ '],
  dependent: ['', ' not ⊥ '],
  unreliable: ['too few rows to test ', ' against '],
};
const statement = ({ x, y, given, decision }) => {
  const [before, between] = decisions[decision];
  return [before, nameOf(x), between, nameOf(y), ...(given ? [' | ', ...namesOf(given)] : [])];
};

const testTable = (verdicts) => {
  if (verdicts.every(({ statistic, p }) => statistic === undefined && p === undefined)) {
    return make('ul', { class: 'verdicts' }, ...verdicts.map((verdict) => make('li', {}, ...statement(verdict))));
  }
  const cell = (figure) => make('td', { class: 'figure' }, figure === undefined ? '' : String(figure));
  const head = make(
    'thead',
    {},
    make('tr', {}, ...['test', 'dof', 'p', 'n'].map((name) => make('th', { scope: 'col' }, name))),
  );
  const body = (verdict) => {
    const place = make('td', { colspan: 4, class: 'given', role: 'status' });
    const { x, y, given = [] } = verdict;
    const plot = canPlot() && verdict.n !== undefined ? [' ', plotButton(x, y, given, place)] : [];
    return make(
      'tbody',
      {},
      make('tr', { class: 'statement' }, make('td', { colspan: 4 }, ...statement(verdict), ...plot)),
      make('tr', {}, ...[verdict.statistic, verdict.dof, verdict.p, verdict.n].map(cell)),
      plot.length ? make('tr', {}, place) : null,
    );
  };
  return make('div', { class: 'scroll' }, make('table', { class: 'tests' }, head, ...verdicts.map(body)));
};

const evidenceBlock = (number) => {
  const { source, note, verdicts, supports } = data.evidence[number];
  return make(
    'div',
    { class: 'evidence' },
    make(
      'p',
      { class: 'source' },
      source === 'given' ? '' : supports ? 'support by ' : 'found by ',
      make('b', {}, source),
      note ? `: ${note}` : '',
    ),
    verdicts.length ? testTable(verdicts) : null,
  );
};

// Build the tree from a fact down; a step that is used again is unfolded once.
export const proofTree = (root) => {
  const shown = new Set();
  const folded = stepsUnder([root]).length > 40;
  const branch = (step, level) => {
    const { fact, rule, evidence, premises } = data.steps[step];
    if (evidence !== undefined) {
      return make('li', { class: 'leaf', 'data-step': step }, factWords(fact), evidenceBlock(evidence));
    }
    const told = make('span', { class: 'rule' }, shown.has(step) ? `${rule}, shown above` : rule);
    if (shown.has(step)) return make('li', { class: 'leaf' }, factWords(fact), ' ', told);
    shown.add(step);
    return make(
      'li',
      { 'data-step': step },
      make(
        'details',
        { open: !folded || level < 2 },
        make('summary', {}, factWords(fact), ' ', told),
        make('ul', {}, ...(premises || []).map((premise) => branch(premise, level + 1))),
      ),
    );
  };
  return make('ul', { class: 'proof' }, branch(root, 0));
};

export const foldButtons = (place) => {
  const all = (open) => () =>
    place()
      .querySelectorAll('details')
      .forEach((one) => {
        one.open = open;
      });
  return make('p', { class: 'folding' }, button({}, all(true), 'Unfold all'), button({}, all(false), 'Fold all'));
};

export const conflictBlock = (conflict) =>
  make(
    'section',
    { class: 'conflict' },
    make('p', { class: 'warning' }, make('bdi', {}, conflict.text)),
    ...conflict.sides.flatMap((side, number) => [make('h3', {}, `Side ${number + 1}`), proofTree(side)]),
  );
