// SPDX-License-Identifier: GPL-2.0
// The page around the model: a form from its inputs, figures and tables from its outputs.

const AUTO = -1;
const STEPS = 1000;		// of a slider
const REST_MS = 250;		// browsers limit how often the address may change

// Of a value's text, the unit that a number without one is in comes first. As in the command.
const UNITS = {
	number: [["", 1]],
	bps: [["bit", 1], ["kbit", 1e3], ["mbit", 1e6], ["gbit", 1e9], ["tbit", 1e12],
		["b/s", 1], ["kb/s", 1e3], ["mb/s", 1e6], ["gb/s", 1e9], ["tb/s", 1e12]],
	bytes: [["B", 1], ["KB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12],
		["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40]],
	us: [["us", 1], ["usec", 1], ["ns", 1e-3], ["nsec", 1e-3], ["ms", 1e3], ["msec", 1e3],
		["s", 1e6], ["sec", 1e6], ["m", 60e6], ["min", 60e6], ["h", 3600e6]],
	share: [["", 1], ["%", 0.01]],
	m: [["m", 1], ["km", 1e3], ["us", 200], ["ns", 0.2]],	// 5 ns per metre
};
const QUANTITY = /^(\d+(?:\.\d*)?(?:e[+-]?\d+)?)(?: *([a-z%\/]+))?$/i;
const SHOWN = {			// in order of size
	bps: UNITS.bps.slice(0, 5),
	bytes: [["B", 1], ["KB", 1e3], ["MB", 1e6], ["GB", 1e9]],
	us: [["ns", 1e-3], ["us", 1], ["ms", 1e3], ["s", 1e6]],
	share: [["%", 0.01]],
	m: [["m", 1], ["km", 1e3]],
};
const OPEN = ["fabric", "load", "switch"];	// groups of inputs shown at first

const $ = (id) => document.getElementById(id);

let wasm, fields, outputIndex, inputIndex, ranges;
let preset = 0, target = 0, scheduled = false, linkTimer, copiedTimer;

function element(tag, attributes = {}, ...children) {
	const e = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes))
		e.setAttribute(name, value);
	e.append(...children);
	return e;
}

// --- the model --------------------------------------------------------------

function text(pointer) {
	const memory = new Uint8Array(wasm.memory.buffer, pointer);

	return new TextDecoder().decode(memory.subarray(0, memory.indexOf(0)));
}

// Views are created each time, because memory that grows gets another buffer
function inputs() {
	return new Float64Array(wasm.memory.buffer, wasm.input(), fields.inputs.length);
}

function outputs() {
	return new Float64Array(wasm.memory.buffer, wasm.output(), fields.outputs.length);
}

function output(name) {
	return outputs()[outputIndex[name]];
}

function word(name) {
	return fields.outputs[outputIndex[name]].words[output(name)];
}

function findings() {
	return Array.from({ length: wasm.num_findings() }, (_, i) => ({
		field: text(wasm.finding_field(i)),
		severe: Boolean(wasm.finding_severe(i)),
		should: wasm.finding_should(i),
		text: text(wasm.finding_text(i)),
	}));
}

// What programs may call: inputs by name, and the problem or the outputs by name
function solve(given) {
	wasm.preset(0);
	for (const [name, value] of Object.entries(given))
		inputs()[fields.inputs.findIndex((f) => f.name === name)] = value;
	const problem = text(wasm.solve());
	const values = outputs();

	return problem ? { problem } :
		{ outputs: Object.fromEntries(fields.outputs.map((f, i) => [f.name, values[i]])) };
}

// --- values as text -----------------------------------------------------------

function digits(value, n = 3) {
	return String(Number(value.toPrecision(n)));
}

function show(field, value, n = 3) {
	if (field.automatic && value === AUTO)
		return "auto";
	if (field.unit === "word")
		return field.words[value];
	const units = SHOWN[field.unit];

	if (!units)
		return digits(value, Math.max(n, 4));
	let [name, worth] = units[0];

	for (const [other, size] of units)
		if (Math.abs(value) >= size * 0.9995)
			[name, worth] = [other, size];
	return digits(value / worth, n) + (value || name === "%" ? name : "");
}

// The shortest text that is this very value
function exact(field, value) {
	for (let n = 3; n < 17; n++) {
		const shown = show(field, value, n);

		if (parse(field, shown) === value)
			return shown;
	}
	return String(value);
}

// NaN if it is none
function parse(field, string) {
	string = string.trim();
	if (field.automatic && string === "auto")
		return AUTO;
	const match = QUANTITY.exec(string);

	// small and capital letters are the same, except here
	if (!match || match[2]?.endsWith("B/s"))
		return NaN;
	const unit = UNITS[field.unit].find(([name]) =>
		!match[2] || name.toLowerCase() === match[2].toLowerCase());

	return unit ? Number(match[1]) * unit[1] : NaN;
}

// --- sliders --------------------------------------------------------------------

// Sliders are logarithmic where a field's range is wide; 0 then is the leftmost place
function isWide(i) {
	const [min, max] = ranges[i];

	return max > 100 * Math.max(min, 1);
}

function least(i) {
	return ranges[i][0] || (fields.inputs[i].whole ? 1 : ranges[i][1] / 1e9);
}

function fromSlider(i, place) {
	const [min, max] = ranges[i];
	let value;

	if (!isWide(i))
		value = min + (max - min) * place / STEPS;
	else if (!place)
		value = min;
	else
		value = least(i) * Math.pow(max / least(i), place / STEPS);
	value = Number(value.toPrecision(3));
	if (fields.inputs[i].whole)
		value = Math.round(value);
	return Math.min(Math.max(value, min), max);
}

function toSlider(i, value) {
	const [min, max] = ranges[i];

	if (!isWide(i))
		return (value - min) / (max - min) * STEPS;
	return value <= least(i) ? 0 :
		Math.log(value / least(i)) / Math.log(max / least(i)) * STEPS;
}

// --- the form ---------------------------------------------------------------------

function makeField(i) {
	const f = fields.inputs[i], id = "input-" + f.key;
	const row = element("div", { class: "field" });

	row.append(element("label", { for: id }, f.key));
	if (f.unit === "word") {
		const select = element("select", { id });

		f.words.forEach((name, at) => select.append(element("option", { value: at }, name)));
		select.addEventListener("input", () => set(i, Number(select.value)));
		row.append(select);
	} else {
		const box = element("input", { id, type: "text", inputmode: "text",
			"aria-describedby": id + "-help" });
		const slider = element("input", { id: id + "-slider", type: "range", min: 0, max: STEPS,
			step: "any", "aria-label": f.key + ", slider" });

		box.addEventListener("change", () => typed(i, box));
		slider.addEventListener("input", () => set(i, fromSlider(i, Number(slider.value))));
		row.append(box, slider);
	}
	const help = element("span", { class: "help", id: id + "-help" }, f.help);

	if (f.automatic) {
		const reset = element("button", { type: "button", id: id + "-auto",
			"aria-label": f.key + ": auto" }, "auto");

		reset.addEventListener("click", () => set(i, AUTO));
		help.append(" ", reset);
	}
	row.append(help);
	return row;
}

function makeForm() {
	const isRoomy = matchMedia("(min-width: 60rem)").matches;
	let group;

	fields.inputs.forEach((f, i) => {
		if (!group || group.dataset.group !== f.group) {
			group = element("details", { "data-group": f.group },
				element("summary", {}, f.group));
			group.open = OPEN.includes(f.group) && isRoomy;
			$("inputs").append(group);
		}
		group.append(makeField(i));
	});
	$("inputs").addEventListener("submit", (event) => event.preventDefault());
}

function makeButtons() {
	fields.presets.forEach((p, i) => {
		const button = element("button", { type: "button", id: "preset-" + p.name,
			title: p.title }, p.title);

		button.addEventListener("click", () => choosePreset(i));
		$("presets").append(button);
	});
	fields.targets.forEach((name, i) => {
		const button = element("button", { type: "button", id: "target-" + name }, name);

		button.addEventListener("click", () => {
			target = i;
			schedule();
		});
		$("targets").append(button);
	});
	$("copy").addEventListener("click", () => copy($("config").textContent));
	$("copy-command").addEventListener("click", () => copy(command()));
	$("copy-link").addEventListener("click", () => copy(location.href.split("#")[0] + link()));
}

// Without a permission for the clipboard, as from a file, select what is to be copied
async function copy(string) {
	try {
		await navigator.clipboard.writeText(string);
	} catch {
		const area = element("textarea", {}, string);

		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	$("copied").textContent = "copied";
	clearTimeout(copiedTimer);
	copiedTimer = setTimeout(() => { $("copied").textContent = ""; }, 2000);
}

function set(i, value) {
	inputs()[i] = value;
	schedule();
}

function typed(i, box) {
	const value = parse(fields.inputs[i], box.value);

	if (Number.isNaN(value)) {
		box.setAttribute("aria-invalid", "true");
		complain(fields.inputs[i].key + ": \"" + box.value + "\" is not a value, such as " +
			exact(fields.inputs[i], ranges[i][2] === AUTO ? ranges[i][1] : ranges[i][2]) +
			(fields.inputs[i].automatic ? ", or auto" : ""));
		return;
	}
	set(i, value);
}

function choosePreset(i) {
	preset = i;
	wasm.preset(i);
	schedule();
}

function showInputs() {
	const values = inputs();

	fields.inputs.forEach((f, i) => {
		const box = $("input-" + f.key), slider = $("input-" + f.key + "-slider");
		const used = outputIndex[f.name] === undefined ? AUTO : output(f.name);

		box.removeAttribute("aria-invalid");
		if (!slider) {
			box.value = values[i];
			return;
		}
		box.value = exact(f, values[i]);
		if (values[i] !== AUTO)
			slider.value = toSlider(i, values[i]);
		else if (used !== AUTO)
			slider.value = toSlider(i, used);
		const reset = $("input-" + f.key + "-auto");

		if (reset)
			reset.setAttribute("aria-pressed", values[i] === AUTO);
	});
	document.querySelectorAll("#presets button").forEach((button, i) =>
		button.setAttribute("aria-pressed", i === preset));
	document.querySelectorAll("#targets button").forEach((button, i) =>
		button.setAttribute("aria-pressed", i === target));
}

// --- the link -----------------------------------------------------------------------

// What differs from the preset
function changes() {
	const now = Array.from(inputs());

	wasm.preset(preset);
	const base = Array.from(inputs());

	inputs().set(now);
	return fields.inputs.map((f, i) => [f, now[i]]).filter(([, value], i) => value !== base[i]);
}

function plain(f, value) {
	return f.unit === "word" || value === AUTO ? show(f, value) : String(value);
}

function link() {
	const parts = [["preset", fields.presets[preset].name],
		["target", fields.targets[target]]];

	for (const [f, value] of changes())
		parts.push([f.key, plain(f, value)]);
	return "#" + new URLSearchParams(parts);
}

function command() {
	return ["dcqcn model --preset " + fields.presets[preset].name,
		...changes().map(([f, value]) => f.key + " " + plain(f, value))].join(" ");
}

function readLink() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const index = (list, name) => Math.max(0, list.indexOf(name));

	preset = index(fields.presets.map((p) => p.name), parts.get("preset"));
	target = index(fields.targets, parts.get("target"));
	wasm.preset(preset);
	for (const [key, value] of parts) {
		if (!Object.hasOwn(inputIndex, key))	// any object has a toString
			continue;
		const i = inputIndex[key], f = fields.inputs[i];
		const number = f.unit === "word" ? f.words.indexOf(value) : parse(f, value);

		if (!Number.isNaN(number) && (f.unit !== "word" || number >= 0))
			inputs()[i] = number;
	}
}

// --- figures ----------------------------------------------------------------------------

function svg(tag, attributes = {}, content = "") {
	const e = document.createElementNS("http://www.w3.org/2000/svg", tag);

	for (const [name, value] of Object.entries(attributes))
		e.setAttribute(name, value);
	e.append(content);
	return e;
}

// A figure's place, in pixels, with axes from 0 to the largest values
class Plot {
	constructor(id, label, height, xmax, ymax) {
		this.width = Math.max($(id).clientWidth, 280);
		this.height = height;
		this.left = 62;
		this.right = this.width - 14;
		this.top = 18;
		this.bottom = height - 34;
		this.xmax = xmax;
		this.ymax = ymax;
		this.root = svg("svg", { viewBox: "0 0 " + this.width + " " + height, role: "img",
			height, "aria-label": label });
		$(id).replaceChildren(this.root);
	}

	x(value) {
		return this.left + (this.right - this.left) * value / this.xmax;
	}

	y(value) {
		return this.bottom - (this.bottom - this.top) * Math.min(value / this.ymax, 1);
	}

	add(tag, attributes, content) {
		this.root.append(svg(tag, attributes, content));
	}

	line(x1, y1, x2, y2, name) {
		this.add("line", { x1, y1, x2, y2, class: name });
	}

	text(x, y, string, anchor = "middle", name = "") {
		this.add("text", { x, y, "text-anchor": anchor, class: name }, string);
	}

	axes(xunit, yunit, xname) {
		const ticks = (max) => {
			const step = Math.pow(10, Math.floor(Math.log10(max / 3)));
			const size = [1, 2, 5, 10].map((n) => n * step).find((s) => max / s <= 5);

			return Array.from({ length: Math.floor(max / size * 1.0001) + 1 }, (_, i) => i * size);
		};

		this.line(this.left, this.bottom, this.right, this.bottom, "axis");
		this.line(this.left, this.bottom, this.left, this.top, "axis");
		for (const value of ticks(this.xmax))
			this.text(this.x(value), this.bottom + 15, show(xunit, value), "middle", "faint");
		for (const value of ticks(this.ymax))
			this.text(this.left - 6, this.y(value) + 4, show(yunit, value), "end", "faint");
		this.text(this.right, this.height - 4, xname, "end", "faint");
	}

	// A vertical line with its name, unless it is outside
	mark(value, name, row = 0) {
		if (value > this.xmax || !value)
			return;
		this.line(this.x(value), this.bottom, this.x(value), this.top, "limit");
		const near = this.x(value) > this.right - 40;

		this.text(this.x(value) + (near ? -3 : 3), this.top + 10 + 14 * row, name,
			near ? "end" : "start");
	}

	level(value, name) {
		if (value > this.ymax || !value)
			return;
		this.line(this.left, this.y(value), this.right, this.y(value), "limit");
		this.text(this.right, this.y(value) - 3, name, "end");
	}
}

const BYTES = { unit: "bytes" }, SHARE = { unit: "share" }, TIME = { unit: "us" };

// How long the queue is in which part of the curve
function showRegimes(kmin, kmax, pmax) {
	const below = output("below_kmin_share"), above = output("above_kmax_share");
	const row = (queue, marks, time) => element("tr", {},
		element("th", { scope: "row" }, queue), element("td", {}, marks),
		element("td", {}, show(SHARE, Math.max(0, time))));

	$("regimes").replaceChildren(
		element("thead", {}, element("tr", {}, ...["queue", "marked", "of the time"]
			.map((name) => element("th", { scope: "col" }, name)))),
		element("tbody", {},
			row("up to Kmin, " + show(BYTES, kmin), "none", below),
			row("up to Kmax, " + show(BYTES, kmax), "up to " + show(SHARE, pmax),
				1 - below - above),
			row("above", "all", above)));
}

function drawCurve() {
	const kmin = output("kmin_bytes"), kmax = output("kmax_bytes"), pmax = output("pmax_share");
	const mean = output("queue_mean_bytes"), marked = output("marked_share");
	const p = new Plot("curve", "Probability of a mark by the queue: none up to Kmin, " +
		show(BYTES, kmin) + ", " + show(SHARE, pmax) + " at Kmax, " + show(BYTES, kmax) +
		", all above. Mean queue " + show(BYTES, mean) + ".", 240,
		1.25 * Math.max(kmax, output("queue_p95_bytes")),
		Math.min(1, 1.3 * Math.max(pmax, marked)));
	const path = [[0, 0], [kmin, 0], [kmax, pmax], [kmax, 1], [p.xmax, 1]];
	const points = path.map(([x, y]) => p.x(x) + "," + p.y(y)).join(" ");

	p.add("polygon", { class: "area", points: points + " " + p.x(p.xmax) + "," + p.bottom });
	p.axes(BYTES, SHARE, "queue");
	p.add("polyline", { class: "curve", points });
	p.mark(kmin, "Kmin");
	p.mark(kmax, "Kmax");
	p.mark(output("xoff_bytes"), "xOFF of a port", 1);
	p.line(p.x(output("queue_p5_bytes")), p.y(marked), p.x(output("queue_p95_bytes")),
		p.y(marked), "span");
	p.add("circle", { class: "point", cx: p.x(mean), cy: p.y(marked), r: 6 });
	p.add("circle", { class: "fluid", cx: p.x(Math.min(output("fluid_queue_bytes"), p.xmax)),
		cy: p.y(output("fluid_p_share")), r: 5 });
	showRegimes(kmin, kmax, pmax);
	p.text(p.left + 4, p.height - 4, "● mean, and 5 to 95 %   ○ fluid model", "start", "faint");
}

function drawQueue() {
	const n = wasm.num_samples();
	const samples = new Float64Array(wasm.memory.buffer, wasm.samples(), 3 * n);
	let most = 1.2 * output("kmax_bytes");

	for (let i = 0; i < n; i++)
		most = Math.max(most, samples[3 * i + 1]);
	const p = new Plot("queue", "Queue over simulated time; the longest is " +
		show(BYTES, most), 220, n ? samples[3 * (n - 1)] : 1, most * 1.1);
	const points = Array.from({ length: n }, (_, i) =>
		p.x(samples[3 * i]).toFixed(1) + "," + p.y(samples[3 * i + 1]).toFixed(1)).join(" ");

	p.axes(TIME, BYTES, "time");
	p.add("polyline", { class: "curve", points });
	p.level(output("kmin_bytes"), "Kmin");
	p.level(output("kmax_bytes"), "Kmax");
	p.level(inputs()[inputIndex.buffer], "buffer");
}

function drawHeadroom() {
	const parts = [["frames begun", "headroom_frames_bytes", "--a"],
		["pause frame", "headroom_pause_bytes", "--b"],
		["cable", "headroom_cable_bytes", "--c"],
		["sender's response", "headroom_response_bytes", "--d"]];
	const pfc = inputs()[inputIndex.pfc];

	$("headroom-section").hidden = !pfc;
	if (!pfc)
		return;
	const given = output("headroom_bytes"), needed = output("headroom_needed_bytes");
	const p = new Plot("headroom", "Headroom: needed " + show(BYTES, needed) + ", given " +
		show(BYTES, given) + ": " + word("headroom_state"), 132,
		1.1 * Math.max(given, needed), 1);
	let at = 0;

	parts.forEach(([name, key, colour], i) => {
		const size = output(key);
		const style = "fill: var(" + colour + ")";

		p.add("rect", { x: p.x(at), y: 24, height: 26, style,
			width: Math.max(p.x(at + size) - p.x(at), 0) });
		p.add("rect", { x: 4 + (i % 2) * p.width / 2, y: 84 + 20 * (i >> 1), width: 11,
			height: 11, style });
		p.text(20 + (i % 2) * p.width / 2, 94 + 20 * (i >> 1),
			name + " " + show(BYTES, size), "start");
		at += size;
	});
	p.line(p.x(given), 16, p.x(given), 58, "span");
	p.text(p.x(given) + 3, 70, "given " + show(BYTES, given), "end");
	p.text(p.left - 6, 42, "needed", "end", "faint");
}

// --- answers ----------------------------------------------------------------------------

function showVerdicts() {
	const rate = (name, values) => values[output(name)];
	const often = ["good", "warn", "bad"];
	const list = [
		["PFC fires: " + (inputs()[inputIndex.pfc] ? word("state_pfc") : "it is off"),
			rate("state_pfc", often)],
		["loss: " + word("state_loss"), rate("state_loss", often)],
		["link: " + word("state_used") + ", " + show(SHARE, output("utilisation_share")),
			rate("state_used", ["good", "bad"])],
		["queue: " + word("state_queue"), rate("state_queue", ["good", "warn"])],
	];

	if (inputs()[inputIndex.pfc])
		list.push(["headroom: " + word("headroom_state"),
			rate("headroom_state", ["good", "good", "warn", "bad"])]);
	$("verdicts").replaceChildren(...list.map(([name, mood]) =>
		element("li", { class: mood }, name)));
}

function showThresholds() {
	const row = (name, unit, used, best, drain) => element("tr", {},
		element("th", { scope: "row" }, name), element("td", {}, show(unit, output(used))),
		element("td", {}, show(unit, output(best))),
		element("td", {}, drain ? show(TIME, output(drain)) : ""));
	const rows = [row("Kmin", BYTES, "kmin_bytes", "best_kmin_bytes", "kmin_drain_us"),
		row("Kmax", BYTES, "kmax_bytes", "best_kmax_bytes", "kmax_drain_us"),
		row("Pmax", SHARE, "pmax_share", "best_pmax_share")];

	if (inputs()[inputIndex.pfc])
		rows.push(row("xOFF", BYTES, "xoff_bytes", "best_xoff_bytes", "xoff_drain_us"),
			row("xON", BYTES, "xon_bytes", "best_xon_bytes"));
	$("thresholds").replaceChildren(
		element("thead", {}, element("tr", {}, ...["", "used", "recommended", "drains in"]
			.map((name) => element("th", { scope: "col" }, name)))),
		element("tbody", {}, ...rows));
}

function showFindings() {
	const list = findings().map((f) => {
		const item = element("li", { class: f.severe ? "bad" : "warn" },
			element("b", {}, f.field), ": " + f.text);

		item.dataset.field = f.field;
		return item;
	});

	$("findings").replaceChildren(...(list.length ? list :
		[element("li", { class: "good" }, "nothing is wrong with these thresholds")]));
}

function showNumbers() {
	const values = outputs(), groups = new Map();

	fields.outputs.forEach((f, i) => {
		if (!groups.has(f.group))
			groups.set(f.group, []);
		groups.get(f.group).push(element("tr", {}, element("td", {}, f.help),
			element("td", {}, show(f, values[i]))));
	});
	$("numbers").replaceChildren(...Array.from(groups, ([name, rows]) => element("div", {},
		element("h3", {}, name), element("table", {}, element("tbody", {}, ...rows)))));
}

function complain(problem) {
	$("problem").textContent = problem;
	$("problem").hidden = !problem;
	$("results").classList.toggle("stale", Boolean(problem));
}

function update() {
	const began = performance.now();
	const problem = text(wasm.solve());

	scheduled = false;
	showInputs();
	complain(problem);
	clearTimeout(linkTimer);
	linkTimer = setTimeout(() => history.replaceState(null, "", link()), REST_MS);
	if (!problem) {
		showVerdicts();
		showThresholds();
		showFindings();
		drawCurve();
		drawQueue();
		drawHeadroom();
		showNumbers();
		$("config").textContent = text(wasm.config(target));
		$("note").textContent = fields.notes[target];
	}
	document.body.dataset.updateMs = performance.now() - began;
	document.body.dataset.updates = Number(document.body.dataset.updates || 0) + 1;
}

// At most once per picture that the browser shows
function schedule() {
	if (!scheduled)
		requestAnimationFrame(update);
	scheduled = true;
}

async function main() {
	const bytes = Uint8Array.from(atob(MODEL), (c) => c.charCodeAt(0));

	wasm = (await WebAssembly.instantiate(bytes)).instance.exports;
	fields = JSON.parse(text(wasm.fields()));
	inputIndex = Object.fromEntries(fields.inputs.map((f, i) => [f.key, i]));
	outputIndex = Object.fromEntries(fields.outputs.map((f, i) => [f.name, i]));
	ranges = fields.inputs.map((_, i) =>
		Array.from(new Float64Array(wasm.memory.buffer, wasm.range(i), 3)));
	makeForm();
	makeButtons();
	readLink();
	update();
	window.addEventListener("resize", schedule);
	window.addEventListener("hashchange", () => {
		readLink();
		schedule();
	});
}

main();
