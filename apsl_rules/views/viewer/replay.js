// The replay: a position between the empty state and the finished part, and what happened there.
import { byId, make, sign } from './elements.js';
import { data, nameOf } from './page.js';
import { factWords } from './words.js';
import { moveTo, on, state } from './state.js';
import { isFiring, visitAt } from './moment.js';

const slider = byId('slider');
const moment = byId('moment');
const settledAfterwards = data.positions > data.history.length;

const stops = {
  entry: Array.from({ length: data.positions + 1 }, (_, position) => position),
  firing: [
    0,
    ...data.history.flatMap((entry, place) => (isFiring(entry) ? [place + 1] : [])),
    data.history.length,
    data.positions,
  ],
  visit: [0, ...data.visits.map(({ end }) => end), data.positions],
};
const sorted = (numbers) => [...new Set(numbers)].toSorted((one, other) => one - other);
for (const stride of Object.keys(stops)) stops[stride] = sorted(stops[stride]);

const tell = () => {
  const { position } = state;
  const where = `${position} of ${data.positions}`;
  const visit = visitAt(position);
  const pieces = [make('span', { class: 'where' }, where)];
  if (visit >= 0) {
    pieces.push(
      make(
        'span',
        { class: 'visit' },
        `visit ${visit + 1} of ${data.visits.length}: `,
        nameOf(data.visits[visit].node),
      ),
    );
  }
  if (position === 0) pieces.push(make('span', {}, 'nothing is known yet'));
  else if (settledAfterwards && position === data.positions)
    pieces.push(make('span', {}, 'contradictions are settled: the finished part'));
  else {
    const { fact, rule, evidence, premises, dropped_for: because } = data.history[position - 1];
    if (because !== undefined)
      pieces.push(make('span', {}, factWords(fact), ' is dropped, since ', factWords(because)));
    else if (rule !== undefined) {
      pieces.push(make('span', {}, make('b', { class: 'rule' }, rule), ' concludes ', factWords(fact)));
      pieces.push(
        make(
          'span',
          { class: 'because' },
          'because ',
          ...(premises || []).flatMap((one, place) => (place ? ['; ', factWords(one)] : [factWords(one)])),
        ),
      );
    } else {
      const { source, note } = data.evidence[evidence];
      pieces.push(
        make(
          'span',
          {},
          make('b', { class: 'rule' }, source),
          source === 'given' ? ': ' : ' finds: ',
          factWords(fact),
          note ? ` (${note})` : '',
        ),
      );
    }
    if (position === data.positions) pieces.push(make('span', { class: 'because' }, 'the finished part'));
  }
  moment.replaceChildren(...pieces);
  slider.setAttribute('aria-valuetext', moment.textContent);
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
  playing = setInterval(
    () => {
      if (!step(1)) pause();
    },
    byId('stride').value === 'visit' ? 1200 : 700,
  );
};
export const playOrPause = () => (playing === null ? play() : pause());
export const stepByHand = (turn) => {
  pause();
  step(turn);
};

export const startReplay = () => {
  slider.max = data.positions;
  byId('play').addEventListener('click', playOrPause);
  byId('first').addEventListener('click', () => {
    pause();
    moveTo(0);
  });
  byId('last').addEventListener('click', () => {
    pause();
    moveTo(data.positions);
  });
  byId('back').addEventListener('click', () => stepByHand(-1));
  byId('ahead').addEventListener('click', () => stepByHand(1));
  slider.addEventListener('input', () => {
    pause();
    moveTo(Number(slider.value));
  });
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
    ...data.visits.map(({ begin, end }, number) =>
      sign('rect', {
        class: number % 2 ? 'visit is-odd' : 'visit',
        x: begin,
        y: 0,
        width: Math.max(0, end - begin),
        height: 10,
      }),
    ),
    sign('path', {
      class: 'tick',
      d: data.history.map((entry, place) => (isFiring(entry) ? `M${place + 1} 2V8` : '')).join(''),
    }),
  );
  on('moment', () => {
    slider.value = state.position;
    tell();
  });
};
