// The part: its report in a frame, which has the drawing, the proofs and the replay.
import { byId } from './elements.js';

const withDrawing = new Set(['answer', 'know', 'much']);
let ticket = null;
const listeners = [];
// Hear what is chosen in the drawing: an edge as two names, or a node.
export const onChosen = (act) => listeners.push(act);

export const showReport = ({ study, report, fresh, part, busy }, tab) => {
  byId('drawn').hidden = !withDrawing.has(tab) || !study.target || !byId('start').hidden;
  if (report !== ticket) {
    ticket = report;
    if (report) byId('report').src = `/report/${report}`;
    else byId('report').removeAttribute('src');
  }
  byId('report').hidden = !report;
  byId('stale').hidden = !report || fresh;
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
    if (source !== frame.contentWindow || origin !== location.origin || data?.apsl !== 'selection') return;
    for (const act of listeners) act(data);
  });
};
