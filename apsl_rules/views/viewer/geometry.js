// The shapes of edges between two ports, as the layout draws them; a port is a point on a box and the way out of it.
const stub = 9;
export const radius = stub / 2 - 0.5;
const tooth = 5;
const amplitude = 3;

const tip = ({ x, y, out }) => [x + out * stub, y];
export const headPath = (port) => {
  const [x, y] = tip(port);
  return `M${port.x} ${port.y}L${x} ${y - stub / 2}L${x} ${y + stub / 2}Z`;
};
export const circleAt = ({ x, y, out }) => ({ cx: x + (out * stub) / 2, cy: y, r: radius });

// Lengthen a body to both boxes, except where an arrow head or a circle stands.
export const wholePath = ({ start, end }, body, look) =>
  (look.start === 'plain' ? `M${start.x} ${start.y}L` : 'M') +
  body +
  (look.end === 'plain' ? `L${end.x} ${end.y}` : '');

// A body between two boxes where a reader put them: from the sides that face each other, or a bow beside both.
const facing = (box, other) => {
  if (other.left >= box.left + box.width) return 1;
  return other.left + other.width <= box.left ? -1 : 0;
};
export const routeBetween = (route, boxes) => {
  const side = facing(...boxes);
  const outs = side === 0 ? [1, 1] : [side, -side];
  const [start, end] = [route.start, route.end].map((port, at) => ({
    x: boxes[at].left + (outs[at] > 0 ? boxes[at].width : 0),
    y: boxes[at].top + (port.y - boxes[at].home.top),
    out: outs[at],
  }));
  const [x1, y1] = tip(start);
  const [x2, y2] = tip(end);
  const bulge = (28 + Math.abs(y2 - y1) / 4) * 1.3;
  const reach = side === 0 ? Math.max(x1, x2) + bulge : (x1 + x2) / 2;
  return { start, end, body: `${x1} ${y1} C${reach} ${y1} ${reach} ${y2} ${x2} ${y2}` };
};

// A zigzag along a path that the browser can measure.
export const zigzagAlong = (path) => {
  const length = path.getTotalLength();
  const corners = [];
  for (let at = 0, side = 0; at < length; at += tooth, side = side > 0 ? -1 : 1) {
    const here = path.getPointAtLength(at);
    const there = path.getPointAtLength(Math.min(length, at + 1));
    const step = Math.hypot(there.x - here.x, there.y - here.y) || 1;
    const [dx, dy] = [(there.x - here.x) / step, (there.y - here.y) / step];
    corners.push([here.x - dy * side * amplitude, here.y + dx * side * amplitude]);
  }
  const last = path.getPointAtLength(length);
  return [...corners, [last.x, last.y]]
    .map((corner) => corner.map((one) => Number(one.toFixed(1))).join(' '))
    .join('L');
};
