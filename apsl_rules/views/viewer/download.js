// The drawing as a file: SVG and PNG, made here from the shapes that are seen, so that nothing needs to be loaded.
import { byId, sign } from './elements.js';
import { data } from './page.js';
import { view } from './state.js';
import { drawing, scene } from './scene.js';
import { applyCamera, writeInFull } from './camera.js';

const sharpness = 2;
const largest = 12000; // pixels that a side of a picture may have
const invisible = new Set(['none', 'rgba(0, 0, 0, 0)', 'transparent']);

// --- shapes with their styles -----------------------------------------------------------------------------------------
const isSeen = (element) => {
  const style = getComputedStyle(element);
  return style.display !== 'none' && style.visibility !== 'hidden';
};
const shapesUnder = (element, opacity, shapes) => {
  if (!isSeen(element) || element.classList.contains('hit') || element.classList.contains('more-here')) return;
  const style = getComputedStyle(element);
  const through = opacity * Number(style.opacity);
  if (element.localName === 'g') {
    for (const child of element.children) shapesUnder(child, through, shapes);
  } else if (element.localName !== 'title') shapes.push(shapeOf(element, style, through));
};
const geometry = {
  path: ['d'],
  rect: ['x', 'y', 'width', 'height', 'rx'],
  circle: ['cx', 'cy', 'r'],
  text: ['x', 'y'],
};
const shapeOf = (element, style, opacity) => {
  const { a, e, f } = scene.getCTM().inverse().multiply(element.getCTM());
  const places = geometry[element.localName]
    .map((name) => [name, element.getAttribute(name)])
    .filter(([, value]) => value !== null);
  const letters = parseFloat(style.fontSize);
  return {
    tag: element.localName,
    places: Object.fromEntries(places),
    words: element.localName === 'text' ? element.textContent : null,
    move: [e / a, f / a],
    fill: style.fill,
    stroke: style.stroke,
    width: parseFloat(style.strokeWidth),
    dashes: style.strokeDasharray,
    letters,
    rise: parseFloat(element.getAttribute('dy') || '0') * letters,
    weight: style.fontWeight,
    anchor: style.textAnchor,
    opacity: opacity * (invisible.has(style.fill) ? 1 : Number(style.fillOpacity)),
  };
};
// All shapes at their own size, whatever is zoomed at the moment.
const allShapes = () => {
  writeInFull();
  const shapes = [];
  for (const child of scene.children) shapesUnder(child, 1, shapes);
  applyCamera();
  return shapes;
};
const ground = () => getComputedStyle(drawing.parentElement).backgroundColor;
const family = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', sans-serif";

// --- SVG --------------------------------------------------------------------------------------------------------------
const written = (shape) => {
  const moved = shape.move.some((one) => Math.abs(one) > 0.05);
  const attributes = {
    ...shape.places,
    fill: shape.fill,
    opacity: shape.opacity < 1 ? shape.opacity : null,
    transform: moved ? `translate(${shape.move.map((one) => one.toFixed(1)).join(' ')})` : null,
  };
  if (!invisible.has(shape.stroke)) {
    Object.assign(attributes, { stroke: shape.stroke, 'stroke-width': shape.width });
    if (shape.dashes !== 'none') attributes['stroke-dasharray'] = shape.dashes.replaceAll('px', '');
  }
  if (shape.words === null) return sign(shape.tag, attributes);
  const style = {
    'font-size': shape.letters,
    'font-weight': shape.weight,
    'text-anchor': shape.anchor,
    y: Number(shape.places.y) + shape.rise,
  };
  return sign('text', { ...attributes, ...style }, shape.words);
};
export const svgText = () => {
  const { width, height } = view();
  const root = sign('svg', { viewBox: `0 0 ${width} ${height}`, width, height, 'font-family': family });
  root.append(
    sign('title', {}, `The part around ${data.names[data.target]}`),
    sign('rect', { width, height, fill: ground() }),
    ...allShapes().map(written),
  );
  return new XMLSerializer().serializeToString(root);
};

// --- PNG --------------------------------------------------------------------------------------------------------------
const outline = ({ tag, places }) => {
  if (tag === 'path') return new Path2D(places.d);
  const path = new Path2D();
  const number = (name) => Number(places[name] || 0);
  if (tag === 'circle') path.arc(number('cx'), number('cy'), number('r'), 0, 2 * Math.PI);
  else path.roundRect(number('x'), number('y'), number('width'), number('height'), number('rx'));
  return path;
};
const paint = (pen, shape) => {
  pen.save();
  pen.translate(...shape.move);
  pen.globalAlpha = shape.opacity;
  pen.fillStyle = shape.fill;
  if (shape.words !== null) {
    pen.font = `${shape.weight} ${shape.letters}px ${family}`;
    pen.textAlign = { middle: 'center', end: 'right' }[shape.anchor] || 'left';
    pen.fillText(shape.words, Number(shape.places.x), Number(shape.places.y) + shape.rise);
  } else {
    const path = outline(shape);
    if (!invisible.has(shape.fill)) pen.fill(path);
    if (!invisible.has(shape.stroke)) {
      pen.strokeStyle = shape.stroke;
      pen.lineWidth = shape.width;
      pen.setLineDash(shape.dashes === 'none' ? [] : shape.dashes.split(',').map(parseFloat));
      pen.stroke(path);
    }
  }
  pen.restore();
};
const painted = () => {
  const { width, height } = view();
  const scale = Math.min(sharpness, largest / width, largest / height);
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext('2d');
  pen.fillStyle = ground();
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.scale(scale, scale);
  for (const shape of allShapes()) paint(pen, shape);
  return canvas;
};

// --- files ------------------------------------------------------------------------------------------------------------
const fileName = (ending) => {
  const plain = data.names[data.target].replaceAll(/[^\p{L}\p{N}_-]+/gu, '_').slice(0, 60);
  return `part-${plain || 'target'}.${ending}`;
};
const saveAs = (blob, name) => {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};
const save = (blob, ending) => saveAs(blob, fileName(ending));
export const saveText = (text, name) => saveAs(new Blob([text], { type: 'text/plain' }), name);
export const startDownload = () => {
  byId('save-svg').addEventListener('click', () => save(new Blob([svgText()], { type: 'image/svg+xml' }), 'svg'));
  byId('save-png').addEventListener('click', () => painted().toBlob((blob) => save(blob, 'png'), 'image/png'));
};
