// What the figures share: elements, controls, dragging, and a clock that only the reader starts. Every control is an element of
// HTML or has a role, a label and keys.

function filled(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
}

export const html = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
    filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export const controls = (...children) => html("div", { class: "controls" }, ...children);

/** A region that screen readers read when it changes. */
export const live = () => html("div", { class: "result", role: "status", "aria-live": "polite" });

export function checkbox(label, isChecked, onChange) {
    const input = html("input", { type: "checkbox", checked: isChecked, onchange: () => onChange(input.checked) });
    return html("label", { class: "control" }, input, label);
}

/** A list of choices: pairs of a value and a label. A value is a text. */
export function select(label, choices, chosen, onChange) {
    const options = choices.map(([value, text]) => html("option", { value, selected: value === String(chosen) }, text));
    const input = html("select", { onchange: () => onChange(input.value) }, ...options);
    return html("label", { class: "control" }, label, input);
}

/** A slider: its element, and `set`, which moves it without an event. */
export function slider(label, [least, most, step], value, unit, onInput) {
    const output = html("span", { class: "value", "aria-hidden": "true" });
    const show = () => {
        output.textContent = `${Number(input.value)}${unit}`;
        input.setAttribute("aria-valuetext", output.textContent);
    };
    const oninput = () => { show(); onInput(Number(input.value)); };
    const input = html("input", { type: "range", min: least, max: most, step, value, oninput });
    show();
    return { element: html("label", { class: "control" }, label, input, output), set: next => { input.value = next; show(); } };
}

/** Lets an element of a drawing be dragged. `move` gets a point of the drawing, and `step` the direction of an arrow key. */
export function draggable(drawing, element, label, move, step) {
    filled(element, { tabindex: 0, role: "button", "aria-label": label }, []);
    element.classList.add("handle");
    element.addEventListener("pointerdown", event => {
        element.setPointerCapture(event.pointerId);
        element.focus();
    });
    element.addEventListener("pointermove", event => {
        if (!element.hasPointerCapture(event.pointerId)) return;
        const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
        move([x, y]);
    });
    element.addEventListener("keydown", event => {
        const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
        if (way === undefined) return;
        event.preventDefault();
        step(way);
    });
}

/** A button that plays, or steps for readers who want no motion. `onTime` gets the seconds to go on by. While it plays, screen
 *  readers do not read `result`. */
export function player(onTime, result) {
    const isStill = matchMedia("(prefers-reduced-motion: reduce)");
    let last = null;
    const tick = now => {
        if (last === null) return;
        onTime(Math.min((now - last) / 1000, 0.1));
        last = now;
        requestAnimationFrame(tick);
    };
    const set = time => {
        last = time;
        result.setAttribute("aria-live", time === null ? "polite" : "off");
        element.textContent = time !== null ? "Stop" : isStill.matches ? "Step by 0.25 s" : "Play";
        if (time !== null) requestAnimationFrame(tick);
    };
    const onclick = () => (isStill.matches ? onTime(0.25) : set(last === null ? performance.now() : null));
    const element = html("button", { type: "button", onclick });
    set(null);
    return { element, stop: () => set(null) };
}

const number = x => (Math.round(x * 1e4) / 1e4 + 0).toFixed(4).padStart(8);
export const point = p => `(${p.slice(0, 2).map(x => number(x).trim()).join(", ")})`;

/** Matrices next to each other, each with its title and the sign after it, as on the pages: three rows of four numbers. */
export function matrices(...list) {
    return html("div", { class: "matrices" }, ...list.map(([title, m, sign = ""]) => {
        const text = [0, 1, 2].map(row => [0, 4, 8, 12].map(column => number(m[column + row])).join("")).join("\n");
        const matrix = html("span", { class: "matrix" }, html("code", {}, title), html("pre", {}, text));
        return html("span", { class: "term" }, matrix, sign);
    }));
}
