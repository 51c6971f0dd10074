// Take it with me: the study, the script and the command that learn the same part, and the part in many forms.
import { button, byId, make } from './elements.js';
import { refill } from './pieces.js';
import { attempt, getBlob } from './server.js';

const files = [
  ['study.toml', 'the study: settings, answers, knowledge'],
  ['study.py', 'a Python script that learns the same part'],
  ['part.json', 'the part itself'],
  ['report.html', 'the report, for any browser'],
  ['figure.pdf', 'the drawing as PDF'],
  ['figure.svg', 'the drawing as SVG'],
  ['figure.png', 'the drawing as PNG'],
  ['figure.tex', 'the drawing as TikZ'],
  ['table.md', 'the edges as a table in Markdown'],
  ['table.tex', 'the edges as a table in LaTeX'],
  ['edges.csv', 'the edges with their figures'],
  ['effects.csv', 'the effects at the target'],
  ['part.dot', 'the graph for other tools'],
];
let known = '';
let script = '';

const save = (what) =>
  attempt(async () => {
    const address = URL.createObjectURL(await getBlob(`/api/take/${what}`));
    const link = make('a', { href: address, download: what });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });

export const showTake = async ({ study, command, part }, tab) => {
  if (tab !== 'take' || !study.target) return;
  const now = JSON.stringify(study);
  if (now !== known) {
    known = now;
    script = (await attempt(async () => (await getBlob('/api/take/study.py')).text())) ?? '';
  }
  refill(byId('take'), [study, script, Boolean(part)], () => [
    make('h2', {}, 'Take it with me'),
    make('p', {}, 'These learn the same part again, byte for byte, in the folder of the table.'),
    make('h3', {}, 'On the command line, with study.toml'),
    make('pre', { tabindex: 0, 'aria-label': 'Command line' }, command),
    make('h3', {}, 'In Python'),
    make('pre', { tabindex: 0, id: 'script', 'aria-label': 'Python script' }, script),
    make('h3', {}, 'Files'),
    make(
      'ul',
      { class: 'plain files' },
      ...files.map(([what, words]) =>
        make(
          'li',
          {},
          button({ 'data-take': what, 'data-key': what }, () => save(what), what),
          ' ',
          words,
        ),
      ),
    ),
  ]);
};
