// The report of a part inside a notebook: the page runs in a frame that may run scripts and nothing else.
// It says what is chosen by messages; the Python side hears of it, and can choose an edge itself.

function render({ model, el }) {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts allow-downloads');
  frame.title = 'report of a part';
  frame.style.cssText = 'width: 100%; border: 1px solid rgba(128, 128, 128, 0.45); border-radius: 6px';

  const resize = () => {
    frame.style.height = `${model.get('height')}px`;
  };
  const hear = ({ source, data }) => {
    if (source !== frame.contentWindow || !data || data.apsl !== 'selection') return;
    model.set('heard', { edge: data.edge ?? null, node: data.node ?? null });
    model.save_changes();
  };
  const tell = () => {
    const { edge } = model.get('told');
    if (edge) frame.contentWindow?.postMessage({ apsl: 'select', edge }, '*');
  };

  window.addEventListener('message', hear);
  frame.addEventListener('load', tell);
  model.on('change:told', tell);
  model.on('change:height', resize);
  resize();
  frame.srcdoc = model.get('page');
  el.append(frame);

  return () => {
    window.removeEventListener('message', hear);
    model.off('change:told', tell);
    model.off('change:height', resize);
  };
}

export default { render };
