// The search for a node by a piece of its name.
import { button, byId, make } from './elements.js';
import { data, nameOf } from './page.js';
import { choose } from './state.js';
import { focusNode } from './camera.js';
import { focusOn } from './moving.js';

export const search = byId('search');
const matches = byId('matches');
const found = (words) => {
  const sought = words.trim().toLocaleLowerCase();
  if (!sought) return [];
  const ranked = data.nodes.map((_, number) => [data.names[number].toLocaleLowerCase().indexOf(sought), number]);
  return ranked
    .filter(([at]) => at >= 0)
    .toSorted((one, other) => (one[0] > 0) - (other[0] > 0) || one[1] - other[1])
    .map(([, number]) => number);
};
const goTo = (number) => {
  matches.hidden = true;
  choose({ kind: 'node', number });
  focusNode(number);
  focusOn(number, { preventScroll: true });
};
const showMatches = () => {
  const hits = found(search.value);
  matches.replaceChildren(
    ...hits.slice(0, 8).map((number) =>
      make(
        'li',
        {},
        button({ 'data-node': number }, () => goTo(number), nameOf(number)),
      ),
    ),
  );
  if (search.value.trim() && !hits.length) matches.append(make('li', { class: 'hint' }, 'no such node'));
  matches.hidden = !search.value.trim();
};
// Close the list of matches; say whether it was open.
export const closeMatches = () => {
  if (matches.hidden) return false;
  search.focus();
  matches.hidden = true;
  return true;
};
export const startSearch = () => {
  search.addEventListener('input', showMatches);
  search.addEventListener('focus', showMatches);
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && found(search.value).length) goTo(found(search.value)[0]);
    else if (event.key === 'ArrowDown' && matches.querySelector('button')) matches.querySelector('button').focus();
    else return;
    event.preventDefault();
  });
  matches.addEventListener('keydown', (event) => {
    const items = [...matches.querySelectorAll('button')];
    const place = items.indexOf(document.activeElement);
    if (event.key === 'ArrowDown' && place + 1 < items.length) items[place + 1].focus();
    else if (event.key === 'ArrowUp') (place ? items[place - 1] : search).focus();
    else return;
    event.preventDefault();
  });
  document.addEventListener('focusin', (event) => {
    if (!event.target.closest('.search')) matches.hidden = true;
  });
};
