// Which table: a file that is dropped or chosen, one of the folder, a shipped one, or a network.
import { button, byId, make } from './elements.js';
import { refill } from './pieces.js';
import { attempt, get, post, postFile } from './server.js';
import { showTabs } from './tabs.js';

let isWanted = false;
let offered = null;
let source = null;

const show = () => {
  byId('start').hidden = Boolean(source) && !isWanted;
  showTabs();
};
const open = async (act) => {
  const done = await attempt(act);
  if (done === undefined) return;
  isWanted = false;
  show();
};
const openNamed = (name) => open(() => post('/api/change', { what: 'open', source: name }));
const openFile = (file) => file && open(() => postFile(file));

const offer = async () => {
  offered = await attempt(() => get('/api/files'));
  if (!offered) return;
  const item = (one) =>
    make(
      'li',
      {},
      button({ 'data-source': one }, () => openNamed(one), make('bdi', {}, one)),
    );
  const none = make('li', { class: 'hint' }, 'no table yet');
  const more = offered.more ? [make('li', { class: 'hint' }, `and ${offered.more} more`)] : [];
  refill(byId('files'), offered.files, () => (offered.files.length ? [...offered.files.map(item), ...more] : [none]));
  refill(byId('networks'), offered.networks, () => offered.networks.map(item));
};
const want = () => {
  isWanted = true;
  offer();
  show();
};

export const showOpening = (state) => {
  source = state.study.source;
  byId('folder').textContent = state.folder || '/';
  if (!source && !offered) offer();
  show();
};

export const startOpening = () => {
  byId('open').addEventListener('click', () => {
    if (isWanted && source) {
      isWanted = false;
      show();
    } else want();
  });
  byId('example').addEventListener('click', () => open(() => post('/api/example', {})));
  byId('file').addEventListener('change', (event) => openFile(event.target.files[0]));
  const drop = byId('drop');
  document.addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    if (byId('start').hidden) want();
    drop.classList.add('is-over');
  });
  document.addEventListener('dragleave', () => drop.classList.remove('is-over'));
  document.addEventListener('drop', (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    drop.classList.remove('is-over');
    openFile(event.dataTransfer.files[0]);
  });
};
