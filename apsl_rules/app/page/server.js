// What the page says to the server on this machine, and what it hears from it.
import { button, byId, make } from './elements.js';
import { openTab } from './tabs.js';

// The token comes after # in the address, which is never sent; a reload of the tab has it from the tab's own store.
const takeToken = () => {
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem('token', given);
    history.replaceState(null, '', location.pathname);
  }
  return given || sessionStorage.getItem('token') || '';
};
const token = takeToken();

// A sentence as it came: text, or pieces of which some are changes that a click makes.
export const sentence = (said) =>
  [said ?? '']
    .flat()
    .map((piece) =>
      typeof piece === 'string'
        ? make('bdi', {}, piece)
        : button(
            { class: 'way' },
            () => (piece.step ? openTab(piece.step) : change(piece.change.what, piece.change)),
            make('bdi', {}, piece.words),
          ),
    );

// Lines as the command line prints them: indented lines belong to the one above.
const indent = (piece) => (typeof piece === 'string' ? piece.length - piece.trimStart().length : 0);
const trimmed = ([first, ...rest]) => [typeof first === 'string' ? first.trimStart() : first, ...rest];
export const told = (lines) =>
  make(
    'div',
    { class: 'told' },
    ...lines.map((line) => {
      const pieces = [line].flat();
      const depth = Math.min(3, Math.floor(indent(pieces[0]) / 2));
      return make('p', { class: `depth-${depth}` }, ...sentence(trimmed(pieces)));
    }),
  );
export const plain = (said) =>
  [said]
    .flat()
    .map((piece) => piece.words ?? piece)
    .join('');

let complaint = '';
export const complain = (said) => {
  const text = JSON.stringify(said ?? '');
  if (text !== complaint) byId('error').replaceChildren(...sentence(said));
  complaint = text;
  byId('wrong').hidden = !said;
};

const gone = "the server does not answer; it was ended, or it is busy. 'apsl open' starts it again.";
const send = async (path, settings = {}) => {
  const headers = { authorization: `Bearer ${token}`, ...settings.headers };
  let answer;
  try {
    answer = await fetch(path, { ...settings, headers });
  } catch {
    throw new Error('gone', { cause: gone });
  }
  if (answer.ok) return answer;
  const text = await answer.text();
  let said = text;
  try {
    said = JSON.parse(text).error ?? text;
  } catch {
    // a plain sentence
  }
  throw new Error('refused', { cause: said });
};

export const get = async (path) => (await send(path)).json();
export const getBlob = async (path) => (await send(path)).blob();
export const post = async (path, data) => {
  const headers = { 'content-type': 'application/json' };
  return (await send(path, { method: 'POST', headers, body: JSON.stringify(data) })).json();
};
export const postFile = async (file) =>
  (await send(`/api/file?name=${encodeURIComponent(file.name)}`, { method: 'POST', body: file })).json();

// Do something that may be refused; the sentence is shown, and nothing is lost.
export const attempt = async (act) => {
  try {
    complain();
    return await act();
  } catch (error) {
    complain(error.cause ?? error.message);
    return undefined;
  }
};
export const change = (what, given = {}) => attempt(() => post('/api/change', { what, ...given }));
export const ask = (what, given) => attempt(() => post('/api/ask', { what, ...given }));

// Hear of every change, for as long as the page is open.
const pause = (milliseconds) =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
const hear = async (act) => {
  const reader = (await send('/api/events')).body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece comes after another
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const lines = text.split('\n\n');
    text = lines.pop();
    const last = lines.findLast((line) => line.startsWith('data: '));
    if (last) act(JSON.parse(last.slice(6)));
  }
};
export const listen = async (act) => {
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- it hears until the stream ends
      await hear((state) => {
        if (byId('error').dataset.gone) complain();
        delete byId('error').dataset.gone;
        act(state);
      });
    } catch (error) {
      complain(error.cause ?? error.message);
      byId('error').dataset.gone = 'yes';
    }
    // oxlint-disable-next-line no-await-in-loop -- and then tries again
    await pause(1500);
  }
};
