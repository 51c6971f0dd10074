// The heading, the keys that work everywhere, and the first view.
const finalLooks = data.edges.filter((edge) => edge.within).map(lastLook);
const having = (kind) => finalLooks.filter((look) => looksLike[look] === kind).length;
byId('heading').append(nameOf(data.target));
byId('summary').append(`depth ${data.depth} · ${count(data.boxes.filter((box) => box.within).length, 'node', 'nodes')} · ` +
  `${count(having('arrow'), 'arrow', 'arrows')} · ${data.hidden ? `${count(having('hidden'), 'hidden common cause', 'hidden common causes')} · ` : ''}${count(having('line'), data.hidden ? 'open edge' : 'line', data.hidden ? 'open edges' : 'lines')} · ${count(having('conflict'), 'conflict', 'conflicts')}`);
if (data.incomplete) {
  byId('incomplete').hidden = false;
  byId('incomplete').append(`Incomplete: ${data.incomplete}`);
}

const isDark = () => {
  const set = document.documentElement.dataset.theme;
  return set ? set === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
};
byId('theme').addEventListener('click', () => { document.documentElement.dataset.theme = isDark() ? 'light' : 'dark'; });

const beyond = byId('beyond');
byId('beyond-label').hidden = data.boxes.every((box) => box.within) && data.edges.every((edge) => edge.within);
beyond.addEventListener('change', () => {
  state.beyond = beyond.checked;
  redraw();
  fit();
});

document.addEventListener('keydown', (event) => {
  const writing = event.target instanceof Element && event.target.closest('input, select, textarea');
  if (event.key === 'Escape') {
    if (!matches.hidden) {
      matches.hidden = true;
      search.focus();
      matches.hidden = true;
    } else if (state.chosen !== null) chooseNothing();
    else return;
  } else if (writing || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === '/') search.focus();
  else if (event.key === ' ' && !(event.target instanceof Element && event.target.closest('button, summary'))) playOrPause();
  else if (event.key === 'ArrowRight') stepByHand(1);
  else if (event.key === 'ArrowLeft') stepByHand(-1);
  else return;
  event.preventDefault();
});
window.addEventListener('resize', applyView);

showPanel();
moveTo(data.positions);
begin();
