// The start: every module takes its place, then the finished part is shown.
import { byId, make, startTheme } from './elements.js';
import { data } from './page.js';
import { moveTo, on, showView, state } from './state.js';
import { startScene } from './scene.js';
import { startCamera } from './camera.js';
import { startMinimap } from './minimap.js';
import { startMoving } from './moving.js';
import { startLegend } from './legend.js';
import { closeChosen, startPanels } from './panels.js';
import { closeMatches, search, startSearch } from './search.js';
import { playOrPause, startReplay, stepByHand } from './replay.js';
import { startSummary } from './summary.js';
import { startDownload } from './download.js';
import { startQuestions } from './questions.js';
import { startEmbedding } from './embedding.js';
import { startPlots } from './given.js';

// Which drawing is shown, where there are several.
const startViews = () => {
  const select = byId('view');
  select.append(...data.views.map(({ words }, number) => make('option', { value: number }, words)));
  byId('view-label').hidden = data.views.length === 1;
  select.addEventListener('change', () => showView(Number(select.value)));
  on('view', () => {
    select.value = state.view;
  });
};

// The keys that work everywhere.
const startKeys = () => {
  document.addEventListener('keydown', (event) => {
    const place = event.target instanceof Element ? event.target : document.body;
    if (event.key === 'Escape') {
      if (closeMatches()) return;
      if (state.chosen === null) return;
      closeChosen();
    } else if (place.closest('input, select, textarea') || event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === '/') search.focus();
    else if (event.key === ' ' && !place.closest('button, summary')) playOrPause();
    else if (event.key === 'ArrowRight') stepByHand(1);
    else if (event.key === 'ArrowLeft') stepByHand(-1);
    else return;
    event.preventDefault();
  });
};

startSummary();
startQuestions();
startScene();
startReplay();
startPanels();
startLegend();
startSearch();
startViews();
startTheme();
startKeys();
moveTo(data.positions);
startCamera();
startMinimap();
startMoving();
startDownload();
startEmbedding();
startPlots();
