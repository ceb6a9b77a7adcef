// Charts in SVG, as wide as their place: drawn again when it changes, so that text keeps its size.
'use strict';

function svgElement(name, attributes, parent) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) {
        element.setAttribute(key, value);
    }
    return parent.appendChild(element);
}

function svgText(parent, text, x, y, anchor, className = '') {
    const element = svgElement('text', {x, y, 'text-anchor': anchor, class: className}, parent);
    element.textContent = text;
    return element;
}

function htmlElement(name, text, parent, className) {
    const element = document.createElement(name);
    element.textContent = text;
    if (className) {
        element.className = className;
    }
    return parent.appendChild(element);
}

// Where a value is between the ends of an axis, and round values to write on it.
function linearScale(low, high, wanted = 5) {
    if (low === high) {
        [low, high] = [low - Math.abs(low || 1) / 10, high + Math.abs(high || 1) / 10];
    }
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 2.5, 5, 10].find(factor => factor * power >= rough);
    const ticks = [];
    for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-12); i++) {
        ticks.push(i * step);
    }
    const own = step / power === 2.5 ? 1 : 0;
    const digits = step >= 5 ? 0 : own + Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return {place: value => (value - low) / (high - low), ticks, format: value => value.toFixed(digits)};
}

function powerScale(values) {
    let low = Math.log2(Math.min(...values));
    let high = Math.log2(Math.max(...values));
    if (high - low < 1) {
        [low, high] = [low - 0.5, high + 0.5];
    }
    const step = Math.max(1, Math.ceil((high - low) / 6));
    const ticks = [];
    for (let power = Math.ceil(low); power <= high; power += step) {
        ticks.push(2 ** power);
    }
    return {place: value => (Math.log2(value) - low) / (high - low), ticks,
            format: value => value >= 1024 ? `${value / 1024}K` : `${value}`};
}

const marks = [
    (x, y, r) => `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0`,
    (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    (x, y, r) => `M${x},${y - 1.3 * r}L${x + 1.2 * r},${y + r}H${x - 1.2 * r}z`,
    (x, y, r) => `M${x},${y - 1.4 * r}L${x + 1.4 * r},${y}L${x},${y + 1.4 * r}L${x - 1.4 * r},${y}z`,
];

function drawMark(parent, shape, x, y, className, radius = 3.5) {
    return svgElement('path', {d: marks[shape % marks.length](x, y, radius), class: `mark ${className}`}, parent);
}

// Tells of the point nearest to the pointer, or to where a finger was put. Points are {px, py, text}.
function makeHoverable(svg, points) {
    const hint = document.getElementById('hint');
    const ring = svgElement('circle', {r: 6, class: 'pointed', visibility: 'hidden'}, svg);
    const leave = () => {
        hint.hidden = true;
        ring.setAttribute('visibility', 'hidden');
    };
    const point = event => {
        const box = svg.getBoundingClientRect();
        const distance = p => Math.hypot(p.px - (event.clientX - box.left), p.py - (event.clientY - box.top));
        const nearest = points.reduce((best, p) => best && distance(best) <= distance(p) ? best : p, null);
        if (!nearest || distance(nearest) > 40) {
            return leave();
        }
        ring.setAttribute('cx', nearest.px);
        ring.setAttribute('cy', nearest.py);
        ring.setAttribute('visibility', 'visible');
        hint.textContent = nearest.text;
        hint.hidden = false;
        const left = box.left + nearest.px - hint.offsetWidth / 2;
        const above = box.top + nearest.py - hint.offsetHeight - 12;
        const rightmost = document.documentElement.clientWidth - hint.offsetWidth - 8;
        hint.style.left = `${Math.max(8, Math.min(left, rightmost))}px`;
        hint.style.top = `${above >= 8 ? above : box.top + nearest.py + 14}px`;
    };
    svg.addEventListener('pointermove', point);
    svg.addEventListener('pointerdown', point);
    svg.addEventListener('pointerleave', leave);
}

// Three beside each other fill a sheet of paper, which is laid out too late to ask for its width.
const paperWidth = 205;
const figures = [];
addEventListener('beforeprint', () => figures.forEach(redraw => redraw(paperWidth)));
addEventListener('afterprint', () => figures.forEach(redraw => redraw()));

// A figure in the parent: draw(svg, width) draws it, returns its height and what can be pointed at.
function addFigure(parent, title, words, draw) {
    const figure = htmlElement('figure', '', parent);
    const caption = htmlElement('figcaption', title, figure);
    htmlElement('span', words, caption);
    let drawn = 0;
    const redraw = (width = Math.floor(figure.clientWidth - 28)) => {
        if (width <= 0 || width === drawn) {
            return;
        }
        drawn = width;
        figure.querySelector('svg')?.remove();
        const svg = svgElement('svg', {role: 'img', 'aria-label': `${title}. ${words}`}, figure);
        const {height, points} = draw(svg, width);
        svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
        makeHoverable(svg, points);
    };
    new ResizeObserver(() => redraw()).observe(figure);
    redraw();
    figures.push(redraw);
    return figure;
}

// Axes with words, and how to get from values to places. `even` is a value to be stressed.
function drawAxes(svg, width, {x, y, xWords, yWords, even}) {
    const [left, right, top, bottom, height] = [38, width - 8, 20, 178, 212];
    const px = value => left + x.place(value) * (right - left);
    const py = value => bottom - y.place(value) * (bottom - top);
    for (const tick of y.ticks) {
        svgElement('path', {d: `M${left},${py(tick)}H${right}`, class: tick === even ? 'even' : 'grid'}, svg);
        svgText(svg, y.format(tick), left - 6, py(tick) + 4, 'end');
    }
    for (const tick of x.ticks) {
        svgText(svg, x.format(tick), px(tick), bottom + 15, 'middle');
    }
    svgText(svg, yWords, 0, 9, 'start');
    svgText(svg, xWords, right, bottom + 30, 'end');
    return {px, py, left, right, top, bottom, height};
}

function pathThrough(points) {
    return points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)},${y.toFixed(1)}`).join('');
}
