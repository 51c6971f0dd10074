// The steps: one is open, arrow keys move between them.
import { byId } from './elements.js';

let chosen = 'table';
const listeners = [];
export const chosenTab = () => chosen;
export const onTab = (act) => listeners.push(act);

const tabs = () => [...byId('tabs').querySelectorAll('[role="tab"]')];
const isOpening = () => byId('tabs').hidden || !byId('start').hidden;
export const showTabs = () => {
  for (const tab of tabs()) {
    const is = tab.id === `tab-${chosen}`;
    tab.setAttribute('aria-selected', String(is));
    tab.tabIndex = is ? 0 : -1;
    byId(tab.getAttribute('aria-controls')).hidden = !is || isOpening();
  }
  byId('main').dataset.tab = isOpening() ? 'start' : chosen;
};
export const openTab = (name) => {
  const isWithin = document.activeElement?.closest('[role="tabpanel"]');
  chosen = name;
  showTabs();
  const tab = byId(`tab-${name}`);
  tab.disabled = false;
  if (isWithin) tab.focus(); // what had the focus is no longer seen
  for (const act of listeners) act();
};

export const startTabs = () => {
  for (const tab of tabs()) tab.addEventListener('click', () => openTab(tab.id.slice(4)));
  byId('tabs').addEventListener('keydown', (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (!steps) return;
    const usable = tabs().filter((tab) => !tab.disabled);
    const place = usable.findIndex((tab) => tab.id === `tab-${chosen}`);
    const next = Number.isFinite(steps)
      ? (place + steps + usable.length) % usable.length
      : steps > 0
        ? usable.length - 1
        : 0;
    event.preventDefault();
    openTab(usable[next].id.slice(4));
    usable[next].focus();
  });
  showTabs();
};
