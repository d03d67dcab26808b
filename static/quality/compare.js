/**
 * The item page: what each annotator marked, on the page itself, in their colour; one toggle each.
 * @typedef {{key: string, letter: string, colour: number, box: number, tokens: [number, number], spans: [number, number][]}} Mark
 */

/** @type {Mark[]} */
const MARKS = JSON.parse(document.getElementById("marks")?.textContent || "[]");
const PAGE = document.getElementById("document");
const MOST_LINES = 3;
const LINE = 3; // pixels of an underline; those of several annotators lie under each other

/**
 * Return the element of a box, with its words marked as tokens.
 * @param {Mark} mark
 */
function boxOf(mark) {
  const box = PAGE?.querySelector(`[data-box="${mark.box}"]`);
  const template = /** @type {HTMLTemplateElement | null} */ (document.querySelector(`template[data-words-of="${mark.box}"]`));
  const words = box && template?.content.querySelector(box.tagName);
  if (box && words && !box.querySelector("[data-token]")) box.replaceChildren(...words.cloneNode(true).childNodes);
  return /** @type {HTMLElement | null | undefined} */ (box ?? within(mark.tokens));
}

/**
 * A box inside another whose words were put in place: the element that holds its tokens.
 * @param {[number, number]} tokens
 */
function within([start, end]) {
  const held = [...(PAGE?.querySelectorAll("[data-token]") ?? [])].filter((one) => {
    const number = Number(/** @type {HTMLElement} */ (one).dataset.token);
    return start <= number && number < end;
  });
  let around = held[0]?.parentElement;
  while (around && !around.contains(held[held.length - 1])) around = around.parentElement;
  return around;
}

/** @param {number} colour */
const paint = (colour) => `var(--who-${colour})`;

/** @type {Map<HTMLElement, Mark[]>} */
const boxes = new Map();
for (const mark of [...MARKS].sort((left, right) => right.tokens[1] - right.tokens[0] - (left.tokens[1] - left.tokens[0]))) {
  const box = boxOf(mark);
  if (box) boxes.set(box, [...(boxes.get(box) ?? []), mark]);
}

/** @param {Mark} mark */
const isShown = (mark) => /** @type {HTMLInputElement | null} */ (document.querySelector(`[data-show="${mark.key}"]`))?.checked ?? true;

function draw() {
  for (const old of document.querySelectorAll(".who-chips")) old.remove();
  for (const [box, marks] of boxes) {
    const shown = marks.filter(isShown).sort((left, right) => left.letter.localeCompare(right.letter));
    box.classList.toggle("is-compared", shown.length > 0);
    box.style.outlineColor = shown.length === 1 ? paint(shown[0].colour) : "";
    if (shown.length) (box.matches("tr, table, ul, ol, dl") ? (box.querySelector("td, th, caption, li, dt, dd") ?? box) : box).prepend(chips(shown));
  }
  for (const word of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#document [data-token]"))) {
    const number = Number(word.dataset.token);
    const by = MARKS.filter((mark) => isShown(mark) && mark.spans.some(([start, end]) => start <= number && number < end));
    word.classList.toggle("is-said", by.length > 0);
    const lines = by.length > MOST_LINES ? [] : by; // more than that would lie over the letters: the word says how many
    word.dataset.by = lines.length < by.length ? String(by.length) : "";
    word.style.backgroundImage = lines.map((mark) => `linear-gradient(${paint(mark.colour)}, ${paint(mark.colour)})`).join(", ");
    word.style.backgroundSize = lines.map(() => `100% ${LINE}px`).join(", ");
    word.style.backgroundPosition = lines.map((_mark, index) => `0 calc(100% - ${index * (LINE + 1)}px)`).join(", ");
  }
}

/** @param {Mark[]} marks */
function chips(marks) {
  const row = document.createElement("span");
  row.className = "who-chips";
  row.append(...marks.map((mark) => {
    const chip = document.createElement("span");
    chip.className = `who who-${mark.colour}`;
    chip.textContent = mark.letter;
    return chip;
  }));
  return row;
}

for (const toggle of document.querySelectorAll("[data-show]")) toggle.addEventListener("change", draw);
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-show-box]"))) {
  button.addEventListener("click", () => {
    const wanted = [...boxes].find(([, marks]) => marks.some((mark) => String(mark.box) === button.dataset.showBox));
    (wanted?.[0] ?? PAGE?.querySelector(`[data-box="${button.dataset.showBox}"]`))?.scrollIntoView({ block: "center" });
  });
}
draw();
const first = boxes.keys().next().value;
if (first && PAGE?.parentElement) {
  PAGE.parentElement.scrollTop += first.getBoundingClientRect().top - PAGE.parentElement.getBoundingClientRect().top - 40;
}
