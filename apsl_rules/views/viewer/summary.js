// The answer in words, above the picture.
import { button, byId, count, make } from './elements.js';
import { data, namesOf } from './page.js';
import { lastLook, looks } from './words.js';
import { choose } from './state.js';
import { focusOn } from './moving.js';
import { drawn } from './scene.js';

const named = 12;
// The kinds of statements that answer the question; the others say what the answer rests on.
const answering = new Set(['cause', 'effect', 'hidden', 'open', 'conflict', 'empty', 'advice']);
const goTo = (number) => () => {
  choose({ kind: 'node', number });
  if (drawn.boxes.has(number)) focusOn(number, { preventScroll: true });
};
const nameButton = (node, remark) => [
  node < data.nodes.length
    ? button({ class: 'name link', 'data-node': node }, goTo(node), make('bdi', {}, data.names[node]))
    : namesOf([node])[0],
  remark ? make('small', {}, ` ${remark}`) : null,
];
const statement = ({ kind, words, nodes, remarks, end }) => {
  const names = nodes.slice(0, named).flatMap((node, at) => [at ? ', ' : ' ', ...nameButton(node, remarks[at])]);
  const rest = nodes.length > named ? [` and ${count(nodes.length - named, 'more', 'more')}`] : [];
  return make(
    'li',
    { class: `statement is-${kind.replace(' ', '-')}` },
    make('span', { class: 'about' }, make('bdi', {}, words)),
    ...names,
    ...rest,
    end ? make('span', { class: 'about' }, end) : null,
  );
};

const size = () => {
  const seen = data.edges.filter((edge) => edge.within).map((edge) => looks[lastLook(edge)].kind);
  const having = (kind) => seen.filter((one) => one === kind).length;
  const open = data.hidden ? ['open edge', 'open edges'] : ['line', 'lines'];
  return [
    `depth ${data.depth}`,
    count(data.nodes.filter((node) => node.within).length, 'node', 'nodes'),
    count(having('arrow'), 'arrow', 'arrows'),
    having('hidden') ? count(having('hidden'), 'hidden common cause', 'hidden common causes') : null,
    having('line') ? count(having('line'), ...open) : null,
    having('conflict') ? count(having('conflict'), 'conflict', 'conflicts') : null,
  ];
};

export const startSummary = () => {
  byId('heading').append(...namesOf([data.target]));
  byId('size').append(size().filter(Boolean).join(' · '));
  const told = data.summary.filter(({ kind }) => kind !== 'incomplete');
  byId('answer').append(...told.filter(({ kind }) => answering.has(kind)).map(statement));
  byId('grounds').append(...told.filter(({ kind }) => !answering.has(kind)).map(statement));
  byId('calibration').hidden = !data.summary.some(({ remarks }) => remarks.some((remark) => remark.includes('%')));
  if (data.incomplete) {
    byId('incomplete').hidden = false;
    byId('incomplete').append(`Incomplete: ${data.incomplete}`);
  }
};
