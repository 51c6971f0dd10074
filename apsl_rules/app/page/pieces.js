// Pieces of the page: names, choices, pictures, and places that are filled again only where something changed.
import { make } from './elements.js';

export const name = (text) => make('bdi', { class: 'name' }, text);

// A choice among words, each with what it means.
export const select = (attributes, options, chosen, act) => {
  const made = make(
    'select',
    attributes,
    ...options.map(([value, words]) => make('option', { value, selected: value === chosen }, words)),
  );
  made.addEventListener('change', () => act(made.value));
  return made;
};

// Show something again only if what it is made of changed; the keyboard stays where it was. While a button of the mouse
// is held nothing is replaced, so that no click is lost.
const seen = new WeakMap();
const waiting = new Map();
let isHeld = false;
export const refill = (place, made, build) => {
  if (isHeld) {
    waiting.set(place, [made, build]);
    return;
  }
  const text = JSON.stringify(made);
  if (seen.get(place) === text) return;
  seen.set(place, text);
  const active = place.contains(document.activeElement) ? document.activeElement : null;
  const { selectionStart: from, selectionEnd: to } = active ?? {};
  place.replaceChildren(...[build()].flat().filter(Boolean));
  const again = [...place.querySelectorAll('[data-key]')].find((one) => one.dataset.key === active?.dataset.key);
  if (!again) {
    place.tabIndex = -1;
    if (active) place.focus({ preventScroll: true });
    return;
  }
  again.focus();
  if (Number.isInteger(from)) again.setSelectionRange(from, to); // whoever types goes on where they were
};
const release = () => {
  isHeld = false;
  const fills = [...waiting];
  waiting.clear();
  for (const [place, [made, build]] of fills) refill(place, made, build);
};
document.addEventListener('pointerdown', () => {
  isHeld = true;
});
for (const end of ['pointerup', 'pointercancel', 'dragend'])
  document.addEventListener(end, () => setTimeout(release, 0), true);

// A drawing that came as text, as an image: nothing in it can run.
export const picture = (svg, words) => {
  const image = make('img', { class: 'picture', alt: words });
  const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  image.addEventListener('load', () => URL.revokeObjectURL(address));
  image.src = address;
  return image;
};
