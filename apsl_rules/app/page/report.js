// The part: its report in a frame, which has the drawing, the proofs and the replay.
import { byId } from './elements.js';
import { picture } from './pieces.js';
import { ask, attempt, getBlob } from './server.js';

const withDrawing = new Set(['answer', 'know', 'much']);
let ticket = null;
let growing = null;
const listeners = [];
// Hear what is chosen in the drawing: an edge as two names, or a node.
export const onChosen = (act) => listeners.push(act);

// The part while it is learned: each drawing takes the place of the one before.
const grow = async (number) => {
  if (number === growing) return;
  growing = number;
  byId('growing').hidden = number === null;
  if (number === null) {
    byId('grown').replaceChildren();
    return;
  }
  const drawn = await attempt(async () => (await getBlob('/api/drawing')).text());
  if (drawn && growing === number) byId('grown').replaceChildren(picture(drawn, 'the part as it is known by now'));
};

// A plot of two columns given others, which the report asks for and draws: only the server has the rows.
const plot = async ({ number, x, y, given }) => {
  const chart = await ask('given', { x, y, given });
  byId('report').contentWindow.postMessage({ apsl: 'chart', number, chart: chart ?? null }, location.origin);
};

export const showReport = ({ study, report, fresh, part, busy }, tab) => {
  byId('drawn').hidden = !withDrawing.has(tab) || !study.target || !byId('start').hidden;
  if (report !== ticket) {
    ticket = report;
    if (report) byId('report').src = `/report/${report}`;
    else byId('report').removeAttribute('src');
  }
  grow(busy?.drawing ?? null);
  byId('report').hidden = !report || growing !== null;
  byId('stale').hidden = !report || fresh || growing !== null;
  const why = part?.incomplete;
  byId('unfinished').hidden = !why || Boolean(busy) || !fresh;
  byId('unfinished-why').textContent = why ? `This is the part so far: ${why}.` : '';
};

export const startReport = () => {
  const frame = byId('report');
  frame.addEventListener('load', () => {
    const { theme } = document.documentElement.dataset;
    const within = frame.contentDocument.documentElement;
    within.dataset.within = 'page';
    if (theme) within.dataset.theme = theme;
  });
  window.addEventListener('message', ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== location.origin) return;
    if (data?.apsl === 'given') plot(data);
    if (data?.apsl === 'selection') for (const act of listeners) act(data);
  });
};
