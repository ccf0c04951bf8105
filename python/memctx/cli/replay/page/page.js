(() => {
  "use strict";
  const turns = JSON.parse(document.getElementById("turns").textContent);
  const readout = document.getElementById("readout");
  const charts = [...document.querySelectorAll("[data-turns]")];
  const cursors = charts.map((chart) => {
    const cursor = document.createElement("div");
    cursor.className = "cursor";
    cursor.hidden = true;
    chart.append(cursor);
    return cursor;
  });
  const number = (value) => value.toLocaleString("en");

  function words(index) {
    const [messages, before, after, cached, took, pruned, trimmed, recalled] = turns[index];
    const share = after ? Math.round((cached / after) * 100) : 0;
    const said = [`${number(messages)} messages`, `${number(before)} → ${number(after)} tokens`, `${share}% cached`];
    if (pruned) said.push(`${pruned} shortened`);
    if (trimmed) said.push(`${trimmed} trimmed`);
    if (recalled) said.push(`${recalled} recalled`);
    said.push(`${took} ms`);
    return said.join(" · ");
  }

  let pointed = null;

  function point(index) {
    pointed = index;
    const width = 100 / turns.length;
    for (const cursor of cursors) {
      cursor.hidden = index === null;
      cursor.style.left = `${index * width}%`;
      cursor.style.width = `${width}%`;
    }
    readout.hidden = index === null;
    if (index === null) return;
    const name = document.createElement("b");
    name.textContent = `Turn ${index + 1}`;
    readout.replaceChildren(name, ` · ${words(index)}`);
  }

  function turnAt(chart, event) {
    const box = chart.getBoundingClientRect();
    const place = Math.floor(((event.clientX - box.left) / box.width) * turns.length);
    return Math.min(Math.max(place, 0), turns.length - 1);
  }

  function show(index) {
    const turn = document.getElementById(`turn-${index + 1}`);
    if (!turn) return;
    for (let at = turn; at; at = at.parentElement.closest("details")) at.open = true;
    turn.hidden = false;
    turn.scrollIntoView({ block: "start" });
  }

  const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

  function press(event) {
    if (event.key === "Enter" && pointed !== null) return show(pointed);
    if (event.key === "Escape") return point(null);
    if (!(event.key in moves)) return;
    event.preventDefault();
    point(Math.min(Math.max((pointed ?? -1) + moves[event.key], 0), turns.length - 1));
  }

  for (const chart of charts) {
    chart.addEventListener("keydown", press);
    chart.addEventListener("blur", () => point(null));
    chart.addEventListener("pointermove", (event) => point(turnAt(chart, event)));
    chart.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && point(null));
    // A finger points with its first touch; only a mouse goes on to the turn.
    chart.addEventListener("click", (event) =>
      event.pointerType === "mouse" ? show(turnAt(chart, event)) : point(turnAt(chart, event)));
  }
  const linked = /^#turn-(\d+)$/.exec(location.hash);
  if (linked) show(linked[1] - 1);
  addEventListener("scroll", () => point(null), { passive: true });

  // The picture is a document of its own: what is saved needs nothing of this page.
  const picture = JSON.parse(document.getElementById("share").textContent);
  const name = document.title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);

  function save(blob, ending) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${name}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  async function draw() {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(picture)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  const saves = document.querySelector(".save");
  if (saves) {
    saves.hidden = false;
    saves.addEventListener("click", async (event) => {
      const kind = event.target.dataset.save;
      if (kind === "svg") save(new Blob([picture], { type: "image/svg+xml" }), kind);
      if (kind === "png") save(await draw(), kind);
    });
  }

  const filters = document.querySelector(".filters");
  if (!filters) return;
  filters.hidden = false;
  filters.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (!pressed) return;
    for (const button of filters.children) button.setAttribute("aria-pressed", String(button === pressed));
    const { kind } = pressed.dataset;
    for (const turn of document.querySelectorAll(".turn")) {
      turn.hidden = Boolean(kind) && !turn.dataset.kinds.split(" ").includes(kind);
    }
    const rest = document.querySelector(".rest");
    if (rest && kind) rest.open = true;
  });
})();
