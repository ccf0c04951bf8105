// A list of any length: only the chunks near the visible part are in the page.
// It shows ranges of numbered items; an index counts what it shows, a number is that of the item.

import { fill, h } from "/dom.js";

const CHUNK = 40;
const GUESS = 110; // Height of an item that was never shown, in pixels.
const MAX_CACHED = 24; // Chunks of items that are kept in memory.
const MAX_LOADED = 200; // Items of one request.

export class VirtualList {
  /** `load(start, count)` resolves to items by number; `render(item)` returns an element. */
  constructor({ total, load, render, label }) {
    this.setRanges([[0, total - 1]]);
    this.load = load;
    this.render = render;
    this.space = h("div", { class: "virtual-space" });
    this.element = h("div", { class: "virtual", role: "feed", "aria-label": label, tabindex: "0" }, this.space);
    this.element.addEventListener("scroll", () => this.schedule(), { passive: true });
    // A user who scrolls is not held where the list was sent.
    for (const name of ["wheel", "touchstart", "pointerdown", "keydown"]) {
      this.element.addEventListener(name, () => { this.aim = undefined; }, { passive: true });
    }
    this.observer = new ResizeObserver((entries) => this.measure(entries));
    this.viewport = new ResizeObserver(() => this.schedule());
    this.viewport.observe(this.element);
  }

  /** Show other ranges of items: pairs of a first and a last number, in order. */
  setRanges(ranges) {
    for (const place of this.shown?.values() ?? []) {
      this.observer.unobserve(place);
      place.remove();
    }
    this.ranges = ranges;
    this.starts = [];
    this.total = 0;
    for (const [first, last] of ranges) {
      this.starts.push(this.total);
      this.total += last - first + 1;
    }
    this.heights = new Map();
    this.cache = new Map();
    this.shown = new Map();
    this.average = GUESS;
  }

  numberAt(index) {
    let at = 0;
    while (at + 1 < this.starts.length && this.starts[at + 1] <= index) at += 1;
    return this.ranges[at][0] + index - this.starts[at];
  }

  /** The index of an item, or of the next one that is shown. */
  indexOf(number) {
    for (const [at, [first, last]] of this.ranges.entries()) {
      if (number <= last) return this.starts[at] + Math.max(number - first, 0);
    }
    return this.total - 1;
  }

  get chunks() { return Math.ceil(this.total / CHUNK); }

  sizeOf(chunk) {
    const count = Math.min(CHUNK, this.total - chunk * CHUNK);
    return this.heights.get(chunk) ?? count * this.average;
  }

  offsetOf(chunk) {
    let top = 0;
    for (let at = 0; at < chunk; at += 1) top += this.sizeOf(at);
    return top;
  }

  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = null; this.update(); });
  }

  /** Put the chunks near the visible part into the page, and take the others out. */
  update() {
    const top = this.element.scrollTop;
    const bottom = top + this.element.clientHeight;
    const margin = this.element.clientHeight || 600;
    const wanted = [];
    let offset = 0;
    for (let chunk = 0; chunk < this.chunks; chunk += 1) {
      const size = this.sizeOf(chunk);
      if (offset + size >= top - margin && offset <= bottom + margin) wanted.push(chunk);
      const place = this.shown.get(chunk);
      if (place) place.style.setProperty("transform", `translateY(${offset}px)`);
      offset += size;
    }
    this.space.style.setProperty("height", `${offset}px`);
    for (const [chunk, place] of this.shown) {
      if (!wanted.includes(chunk)) {
        this.observer.unobserve(place);
        place.remove();
        this.shown.delete(chunk);
      }
    }
    for (const chunk of wanted) if (!this.shown.has(chunk)) this.place(chunk);
  }

  place(chunk) {
    const place = h("div", { class: "virtual-chunk", "data-chunk": chunk });
    place.style.setProperty("transform", `translateY(${this.offsetOf(chunk)}px)`);
    this.shown.set(chunk, place);
    const later = [...this.space.children].find((each) => Number(each.dataset.chunk) > chunk);
    this.space.insertBefore(place, later ?? null);
    const items = this.cache.get(chunk);
    if (items) this.showItems(chunk, place, items);
    else this.fetch(chunk, place);
  }

  /** Load the items of a chunk, near ones by one request. */
  async loadChunk(chunk) {
    const last = Math.min((chunk + 1) * CHUNK, this.total);
    const numbers = [];
    for (let index = chunk * CHUNK; index < last; index += 1) numbers.push(this.numberAt(index));
    const loading = [];
    for (let at = 0; at < numbers.length;) {
      const own = numbers.slice(at).filter((number) => number < numbers[at] + MAX_LOADED);
      const wanted = new Set(own);
      loading.push(this.load(own[0], own.at(-1) - own[0] + 1).then((items) => items.filter((item) => wanted.has(item.number))));
      at += own.length;
    }
    return (await Promise.all(loading)).flat();
  }

  fetch(chunk, place) {
    place.style.setProperty("min-height", `${this.sizeOf(chunk)}px`);
    return this.loadChunk(chunk).then((items) => {
      if (this.shown.get(chunk) !== place) return;
      this.cache.set(chunk, items);
      for (const old of this.cache.keys()) {
        if (this.cache.size <= MAX_CACHED) break;
        if (!this.shown.has(old)) this.cache.delete(old);
      }
      this.showItems(chunk, place, items);
    }).catch((error) => {
      fill(place, h("p", { class: "error", role: "alert" }, error.message));
    });
  }

  showItems(chunk, place, items) {
    place.style.removeProperty("min-height");
    fill(place, ...items.map((item) => this.render(item)));
    this.observer.observe(place);
    if (this.aim !== undefined && Math.floor(this.indexOf(this.aim) / CHUNK) === chunk) this.settle();
  }

  /** Note the real heights of chunks; what is being read stays in its place. */
  measure(entries) {
    let isChanged = false;
    for (const { target } of entries) {
      const chunk = Number(target.dataset.chunk);
      const height = target.offsetHeight;
      if (this.shown.get(chunk) !== target || !height || !target.firstChild) continue;
      const before = this.sizeOf(chunk);
      if (Math.abs(before - height) < 1) continue;
      const isAbove = this.offsetOf(chunk) + before <= this.element.scrollTop;
      this.heights.set(chunk, height);
      if (isAbove && this.aim === undefined) this.element.scrollTop += height - before;
      isChanged = true;
    }
    if (!isChanged) return;
    if (this.heights.size <= 3) {
      const all = [...this.heights].map(([chunk, height]) => height / Math.min(CHUNK, this.total - chunk * CHUNK));
      this.average = all.reduce((sum, each) => sum + each, 0) / all.length;
    }
    this.update();
    if (this.aim !== undefined) this.point();
  }

  /** Show an item, or what is rendered before it. */
  scrollTo(number, { focus = false, isBefore = false } = {}) {
    if (!this.total) return;
    this.aimBefore = isBefore;
    this.aim = this.numberAt(this.indexOf(number));
    this.aimFocus = focus;
    this.update(); // It has its height only then.
    this.point();
  }

  /** Scroll to where the aimed item is, as far as heights are known. */
  point() {
    const index = this.indexOf(this.aim);
    this.element.scrollTop = this.offsetOf(Math.floor(index / CHUNK)) + (index % CHUNK) * this.average * 0.5;
    this.update();
    this.settle();
  }

  settle() {
    const aimed = this.space.querySelector(`[data-number="${this.aim}"]`);
    if (!aimed) return;
    const before = aimed.previousElementSibling;
    const item = this.aimBefore && before && !before.dataset.number ? before : aimed;
    const box = item.getBoundingClientRect();
    const own = this.element.getBoundingClientRect();
    this.element.scrollTop += box.top - own.top - 24;
    if (this.aimFocus) item.focus({ preventScroll: true });
    clearTimeout(this.timer);
    // Chunks above may still change their heights.
    this.timer = setTimeout(() => { this.aim = undefined; }, 400);
    this.schedule();
  }

  /** Render what is shown again, for instance with other marks. */
  refresh() {
    for (const [chunk, place] of this.shown) {
      const items = this.cache.get(chunk);
      if (items) fill(place, ...items.map((item) => this.render(item)));
    }
  }

  close() {
    this.observer.disconnect();
    this.viewport.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
  }
}
