// The start: every step takes its place; whatever the server says is shown in all of them.
import { byId, startTheme } from './elements.js';
import { change, complain, listen, post, attempt } from './server.js';
import { showOpening, startOpening } from './opening.js';
import { showTable } from './table.js';
import { showQuestion } from './question.js';
import { showKnown } from './know.js';
import { showEffects } from './much.js';
import { showGraph } from './graph.js';
import { showTake } from './take.js';
import { showReport, startReport } from './report.js';
import { chosenTab, onTab, openTab, startTabs } from './tabs.js';

let state = null;
let target = null;

const showBusy = ({ busy }) => {
  byId('busy').hidden = !busy;
  document.body.classList.toggle('is-busy', Boolean(busy));
  if (!busy) return;
  const progress = byId('progress');
  if (busy.of) {
    progress.max = busy.of;
    progress.value = busy.done;
  } else progress.removeAttribute('value');
  const done = busy.done.toLocaleString('en');
  const figures = busy.of ? `: ${done} of ${busy.of.toLocaleString('en')}` : busy.done ? `: ${done} so far` : '';
  const words = `${busy.what}${figures || ' …'}`;
  if (byId('doing').textContent !== words) byId('doing').textContent = words;
};

const show = () => {
  if (!state) return;
  const { study } = state;
  byId('heading').textContent = study.source ?? 'apsl';
  document.title = [study.target, study.source, 'apsl'].filter(Boolean).join(' · ');
  byId('undo').disabled = !state.undo;
  byId('redo').disabled = !state.redo;
  showBusy(state);
  byId('tabs').hidden = !study.source;
  showOpening(state); // which shows the step that is open, if the steps are there
  for (const id of ['answer', 'know', 'much', 'take']) byId(`tab-${id}`).disabled = !study.target;
  if (study.target !== target) {
    const first = target === null && study.target !== null;
    target = study.target;
    if (target === null || first) openTab(target === null ? 'table' : 'answer');
  }
  const wrong = state.columns.error ?? state.error;
  if (wrong) complain(wrong);
  else if (byId('error').dataset.of === 'state') complain();
  byId('error').dataset.of = wrong ? 'state' : 'act';
  byId('retry').hidden = !wrong;
  if (state.fresh && state.part && byId('said').textContent !== state.part.said)
    byId('said').textContent = state.part.said; // for who hears the page
  showTable(state);
  showQuestion(state);
  showKnown(state);
  showEffects(state);
  showGraph(state);
  showTake(state, chosenTab());
  showReport(state, chosenTab());
};

const startKeys = () => {
  document.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return;
    if (event.target instanceof Element && event.target.closest('input, textarea')) return;
    event.preventDefault();
    change(event.shiftKey ? 'redo' : 'undo');
  });
};

byId('undo').addEventListener('click', () => change('undo'));
byId('redo').addEventListener('click', () => change('redo'));
byId('again').addEventListener('click', () => change('again'));
byId('retry').addEventListener('click', () => change('again'));
byId('stop').addEventListener('click', () => attempt(() => post('/api/stop', {})));
startKeys();
startTheme((theme) => byId('report').contentDocument?.documentElement.setAttribute('data-theme', theme));
startOpening();
startTabs();
startReport();
onTab(show);
listen((said) => {
  state = said;
  show();
});
