// The replay: a position between the empty state and the finished part, and what happened there.
const slider = byId('slider');
const moment = byId('moment');
const settledAfterwards = data.positions > data.history.length;
slider.max = data.positions;

const isFiring = (entry) => typeof entry[1] === 'string' || entry.length > 3;
const stops = {
  entry: Array.from({ length: data.positions + 1 }, (_, position) => position),
  firing: [0, ...data.history.flatMap((entry, place) => isFiring(entry) ? [place + 1] : []), data.history.length, data.positions],
  visit: [0, ...data.visits.map((visit) => visit[3]), data.positions],
};
const sorted = (numbers) => [...new Set(numbers)].sort((one, other) => one - other);
for (const stride of Object.keys(stops)) stops[stride] = sorted(stops[stride]);

const visitAt = (position) => data.visits.findIndex((visit) => visit[2] < position && position <= visit[3]);

// What the drawing needs of a moment: who was visited by then, and what the newest entry speaks of.
const momentNow = () => {
  const { position } = state;
  const finished = position === data.positions;
  const visit = visitAt(position);
  const entry = data.history[position - 1];
  const edge = entry && !finished ? edgeOfFact(entry[0]) : undefined;
  return {
    visited: new Set(data.visits.filter((one) => one[2] < position).map((one) => one[0])),
    node: visit >= 0 && !finished ? data.visits[visit][0] : null,
    edges: new Set(edge === undefined ? [] : [edge]),
  };
};

const tell = () => {
  const { position } = state;
  const where = `${position} of ${data.positions}`;
  const visit = visitAt(position);
  const pieces = [make('span', { class: 'where' }, where)];
  if (visit >= 0) {
    pieces.push(make('span', { class: 'visit' }, `visit ${visit + 1} of ${data.visits.length}: `, nameOf(data.visits[visit][0])));
  }
  if (position === 0) pieces.push(make('span', {}, 'nothing is known yet'));
  else if (settledAfterwards && position === data.positions) pieces.push(make('span', {}, 'contradictions are settled: the finished part'));
  else {
    const [fact, why, premises, because] = data.history[position - 1];
    if (because !== undefined) pieces.push(make('span', {}, factWords(fact), ' is dropped, since ', factWords(because)));
    else if (typeof why === 'string') {
      pieces.push(make('span', {}, make('b', { class: 'rule' }, why), ' concludes ', factWords(fact)));
      pieces.push(make('span', { class: 'because' }, 'because ', ...premises.flatMap((one, place) => place ? ['; ', factWords(one)] : [factWords(one)])));
    } else {
      const { source, note } = data.evidence[why];
      pieces.push(make('span', {}, make('b', { class: 'rule' }, source), source === 'given' ? ': ' : ' finds: ', factWords(fact), note ? ` (${note})` : ''));
    }
    if (position === data.positions) pieces.push(make('span', { class: 'because' }, 'the finished part'));
  }
  moment.replaceChildren(...pieces);
  slider.setAttribute('aria-valuetext', moment.textContent);
};

const redraw = () => drawMoment(momentNow());
const moveTo = (position) => {
  state.position = Math.min(data.positions, Math.max(0, position));
  slider.value = state.position;
  tell();
  redraw();
};
const step = (turn) => {
  const list = stops[byId('stride').value];
  const next = turn > 0 ? list.find((one) => one > state.position) : list.findLast((one) => one < state.position);
  if (next === undefined) return false;
  moveTo(next);
  return true;
};

let playing = null;
const pause = () => {
  clearInterval(playing);
  playing = null;
  byId('play').textContent = '▶ Play';
  byId('play').setAttribute('aria-label', 'Play');
};
const play = () => {
  if (state.position === data.positions) moveTo(0);
  byId('play').textContent = '⏸ Pause';
  byId('play').setAttribute('aria-label', 'Pause');
  playing = setInterval(() => { if (!step(1)) pause(); }, byId('stride').value === 'visit' ? 1200 : 700);
};
const playOrPause = () => playing === null ? play() : pause();
const stepByHand = (turn) => {
  pause();
  step(turn);
};

byId('play').addEventListener('click', playOrPause);
byId('first').addEventListener('click', () => { pause(); moveTo(0); });
byId('last').addEventListener('click', () => { pause(); moveTo(data.positions); });
byId('back').addEventListener('click', () => stepByHand(-1));
byId('ahead').addEventListener('click', () => stepByHand(1));
slider.addEventListener('input', () => { pause(); moveTo(Number(slider.value)); });
slider.addEventListener('keydown', (event) => {
  const turn = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (!turn) return;
  event.preventDefault();
  event.stopPropagation();
  stepByHand(turn);
});

// The strip above the slider: visits as blocks, firings as ticks.
const strip = byId('strip');
strip.setAttribute('viewBox', `0 0 ${Math.max(1, data.positions)} 10`);
strip.append(
  ...data.visits.map(([, , begin, end], number) => sign('rect', { class: number % 2 ? 'visit is-odd' : 'visit', x: begin, y: 0, width: Math.max(0, end - begin), height: 10 })),
  sign('path', { class: 'tick', d: data.history.map((entry, place) => isFiring(entry) ? `M${place + 1} 2V8` : '').join('') }),
);
