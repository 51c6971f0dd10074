// My graph: one that a person brings, against the table.
import { button, byId, make } from './elements.js';
import { picture, refill } from './pieces.js';
import { ask, plain, told } from './server.js';

let text = '';
let found = null;
let source = null;
const example = 'dag {\n  age -> smoke\n  smoke -> cancer\n}';

const work = async () => {
  found = (await ask('check', { graph: text })) ?? null;
  draw();
};
const draw = () => {
  refill(byId('graph'), [source, found], () => {
    const area = make('textarea', {
      id: 'graph-text',
      rows: 9,
      spellcheck: 'false',
      placeholder: example,
      'data-key': 'graph',
    });
    area.value = text;
    area.addEventListener('input', () => {
      text = area.value;
    });
    return [
      make('h2', {}, 'Is my graph right?'),
      make(
        'label',
        { for: 'graph-text' },
        'Paste it as dagitty (dag { a -> b }), DOT (digraph { a -> b; }) or bnlearn ([a][b|a]).',
      ),
      area,
      button({ id: 'check', class: 'main', 'data-key': 'check' }, work, 'Check it'),
      make(
        'div',
        { id: 'checked', 'aria-live': 'polite' },
        ...(found
          ? [
              make('h3', {}, found.verdict),
              make(
                'ul',
                { class: 'colours' },
                make('li', { class: 'stands' }, 'green: stands'),
                make('li', { class: 'doubtful' }, 'yellow: weak, or to be turned'),
                make('li', { class: 'contradicted' }, 'red: the rows say otherwise'),
              ),
              picture(found.svg, `the graph in three colours: ${plain(found.text[0])}`),
              ...(found.changes.length
                ? [
                    make('h3', {}, 'The least changes that would help'),
                    make('ol', {}, ...found.changes.map((one) => make('li', {}, make('bdi', {}, one)))),
                  ]
                : []),
              make('h3', {}, 'What was tested'),
              told(found.text),
            ]
          : []),
      ),
    ];
  });
};
export const showGraph = ({ study }) => {
  if (study.source !== source) found = null;
  ({ source } = study);
  draw();
};
