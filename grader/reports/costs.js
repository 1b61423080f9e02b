// Works the formulas of MODEL out whenever something is set; whole numbers are BigInt throughout.
const min = (a, b) => a < b ? a : b, max = (a, b) => a > b ? a : b;
const grouped = number => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

function divisor(number, near) {
  for (let away = 0n; ; away++)
    for (const n of [near - away, near + away]) if (!(number % n)) return n;
}

function settled(wanted) {
  const taken = {...wanted}, notes = {};
  const take = (name, instead, why) => {
    notes[name] = `${name} ${grouped(wanted[name])}: ${why}; ${grouped(instead)} is counted.`;
    taken[name] = instead;
  };
  for (const [name, {least, most}] of numbers)
    if (taken[name] < least || taken[name] > most)
      take(name, BigInt(taken[name] < least ? least : most),
        `from ${grouped(least)} to ${grouped(most)}`);
  for (const [name, broken, instead, why] of MODEL.rules)
    if (broken(taken))
      take(name, instead(taken), why.replace(/\{(\w+)\}/g, (_, other) => grouped(taken[other])));
  return [taken, Object.values(notes)];
}

function values(taken) {
  const s = {};
  for (const [setting, {words}] of settings)
    for (const [name, value] of Object.entries(words[taken[setting]] ?? {[setting]: taken[setting]}))
      s[name] = BigInt(value);
  for (const [name, formula] of MODEL.costs) s[name] = formula(s);
  return s;
}

function text([unit, over, formulas], s) {
  const [number, ...more] = formulas.map(formula => formula(s));
  if (unit === "shape") return `(${[number, ...more].join(", ")})`;
  let of = over(s);
  const base = {B: 1000n, iB: 1024n, FLOP: 1000n}[unit];
  if (base) {
    if (!number) return "-";
    let power = 0;
    for (of = 1n; number >= of * base && power < 6; power++) of *= base;
    unit = " KMGTPE"[power].trim() + (power ? unit : unit.replace("i", ""));
  }
  if (of === 1n) return `${grouped(number)} ${unit}`.trim();
  const hundredths = (200n * number + of) / (2n * of), rest = String(hundredths % 100n);
  if (hundredths >= 100000n) return `${grouped((2n * number + of) / (2n * of))} ${unit}`.trim();
  return `${grouped(hundredths / 100n)}.${rest.padStart(2, "0")} ${unit}`.trim();
}

const settings = Object.entries(MODEL.settings);
const numbers = settings.filter(([, {words}]) => !Object.keys(words).length);
const field = name => document.getElementById(name);

function update() {
  const wanted = Object.fromEntries(settings.map(([name]) => [name, field(name).value]));
  for (const [name, {stops}] of numbers) {
    wanted[name] = /^-?\d{1,30}$/.test(wanted[name]) ? BigInt(wanted[name]) : 0n;
    const slider = document.querySelector(`input[name="${name}"]`);
    slider.value = stops.findLastIndex(stop => stop <= wanted[name]);
  }
  const [taken, notes] = settled(wanted), s = values(taken);
  document.querySelector("output").textContent = notes.join("\n");
  [...document.querySelectorAll("tr:has(td)")].forEach((row, at) => {
    const [there, bar, cells] = MODEL.rows[at], share = Number(bar(s)) / 10;
    row.hidden = !there(s);
    cells.forEach((cell, n) => {
      if (cell) row.cells[n].textContent = text(cell, s);
      else row.cells[n].className = "soft";
    });
    row.style.backgroundSize = `${share}% 100%`;
  });
}

document.addEventListener("input", ({target: {type, name, value}}) => {
  if (type === "range") field(name).value = MODEL.settings[name].stops[value];
  update();
});
document.addEventListener("click", ({target: {type, name}}) => {
  if (type !== "button") return;
  for (const [setting, value] of Object.entries(MODEL.presets[name])) field(setting).value = value;
  update();
});
update();
