import { refused } from "../web/session.js";
import { Draft } from "./draft.js";
import { EventLog } from "./eventlog.js";
import { Outbox } from "./outbox.js";
import { Progress } from "./progress.js";
import { _, announce, showProblem } from "./text.js";

const LAST_MINUTES = 5;

/**
 * Close open menus but the one that an element lies in; return whether there was one.
 * @param {Element | null} target
 */
function closeMenus(target) {
  const open = [...document.querySelectorAll("details.menu[open]")].filter((menu) => !target || !menu.contains(target));
  for (const menu of open) menu.removeAttribute("open");
  return open.length > 0;
}

/** The desk: one stage at a time, its keys, its draft, its clock. */
class Desk {
  /** @param {Record<string, any>} stages a class for each stage at which there is more to do than press buttons */
  constructor(stages) {
    this.stages = stages;
    /** @type {HTMLElement | null} */
    this.root = null;
    this.handling = false; // a key that a device sent
    /** @type {(() => void) | undefined} of the log that went with the last answer */
    this.putBack = undefined;
    this.outbox = new Outbox();
    this.progress = new Progress();
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("click", (event) => this.click(event));
    document.addEventListener("submit", (event) => this.stamp(event), true);
    document.addEventListener("submit", (event) => this.outbox.submitted(event));
    document.addEventListener("htmx:confirm", (event) => this.settle(/** @type {CustomEvent} */ (event)));
    document.addEventListener("htmx:afterSwap", () => this.show());
    document.addEventListener("htmx:responseError", (event) => this.failed(/** @type {CustomEvent} */ (event)));
    document.addEventListener("htmx:sendError", (event) => this.unsent(/** @type {CustomEvent} */ (event)));
    document.addEventListener("htmx:beforeRequest", () => this.outbox.began());
    document.addEventListener("visibilitychange", () => this.log?.add(document.visibilityState === "visible" ? "show" : "hide"));
    document.addEventListener("paste", (event) => this.pasted(event));
    for (const kind of ["keydown", "click"]) document.addEventListener(kind, (event) => this.witness(event), true);
    window.addEventListener("blur", () => this.log?.add("blur"));
    window.addEventListener("focus", () => this.log?.add("focus"));
    window.addEventListener("beforeunload", () => {
      if (this.draft) this.draft.leaving = true;
    });
    window.addEventListener("pagehide", () => {
      this.draft?.flush(true);
      this.log?.flush();
    });
    document.addEventListener("pointermove", () => this.log?.touch(), { passive: true });
    window.setInterval(() => this.clock(), 5000);
    this.show();
  }

  show() {
    const root = /** @type {HTMLElement | null} */ (document.querySelector("#work [data-stage]"));
    const counted = /** @type {HTMLElement | null} */ (document.querySelector("#work [data-done]"));
    if (counted) this.progress.show(counted); // also where no item is left
    if (root === this.root) return;
    this.log?.close();
    this.root = root;
    this.stage = this.draft = this.log = this.putBack = undefined;
    showProblem("");
    announce("");
    if (!root) {
      this.outbox.shown(null);
      return;
    }
    this.draft = new Draft(root);
    this.log = new EventLog(root);
    const Stage = this.stages[root.dataset.stage || ""];
    this.stage = Stage ? new Stage(root, this.draft, this.log) : undefined;
    if (this.stage) this.stage.focus();
    else /** @type {HTMLElement} */ (document.getElementById("question")).focus();
    if (root.dataset.reserveUrl) this.reserve(root);
    this.outbox.shown(root);
    this.clock();
  }

  /**
   * Note input that no device made. What the desk clicks itself it clicks while a key is being handled.
   * @param {Event} event
   */
  witness(event) {
    if (event.isTrusted && event.type === "keydown") {
      this.handling = true;
      window.setTimeout(() => (this.handling = false));
    }
    if (!event.isTrusted && !this.handling) this.log?.add("untrusted");
  }

  /** @param {ClipboardEvent} event */
  pasted(event) {
    this.log?.add("paste", event.clipboardData?.getData("text").length ?? 0);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.altKey || event.metaKey || event.isComposing || document.querySelector("dialog[open]")) return;
    const typing = target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
    if (typing) return;
    if (event.key === "Escape" && closeMenus(null)) return;
    if (target.matches("button, a, summary") && (event.key === "Enter" || event.key === " ")) return;
    if (this.stage?.key(event)) {
      event.preventDefault();
      return;
    }
    if (event.ctrlKey) return;
    const name = CSS.escape(event.key);
    const control = /** @type {HTMLElement | null} */ (document.querySelector(`[data-key="${name}"]:not([disabled])`));
    if (!control) return;
    event.preventDefault();
    control.click();
    if (control.matches("input")) control.focus(); // Enter sends what was chosen
  }

  /** @param {MouseEvent} event */
  click(event) {
    const target = /** @type {Element} */ (event.target);
    closeMenus(target);
    this.log?.touch();
    const opener = /** @type {HTMLElement | null} */ (target.closest("[data-open]"));
    if (opener) this.open(opener.dataset.open || "");
    if (target.closest("[data-close]")) /** @type {HTMLDialogElement | null} */ (target.closest("dialog"))?.close();
    if (target.closest("[data-extend]")) this.extend();
    const logged = /** @type {HTMLElement | null} */ (target.closest("[data-log]"));
    if (logged) this.log?.add(logged.dataset.log || "");
  }

  /** @param {string} id */
  open(id) {
    const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById(id));
    if (!dialog) return;
    this.log?.add(id === "guidelines" ? "guidelines" : "help");
    const content = /** @type {HTMLElement | null} */ (dialog.querySelector("[data-load]"));
    if (content && !content.childElementCount) {
      fetch(content.dataset.load || "", { headers: { "HX-Request": "true" } })
        .then((response) => response.text())
        .then((html) => (content.innerHTML = html));
    }
    dialog.showModal();
  }

  /**
   * Write into the form how long the person was active, and what they did.
   * @param {SubmitEvent} event
   */
  stamp(event) {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (!this.log || !this.root?.contains(form) || !form.querySelector("[name=events]")) return;
    const { fields, putBack } = this.log.take();
    this.putBack = putBack;
    for (const [name, value] of Object.entries({ active_seconds: this.log.activeSeconds, ...fields })) {
      /** @type {HTMLInputElement} */ (form.querySelector(`[name=${name}]`)).value = value;
    }
  }

  /** @param {CustomEvent} event */
  settle(event) {
    if (!this.draft || !this.root?.contains(event.target instanceof Node ? event.target : null)) return;
    event.preventDefault();
    this.draft.settle().then(() => event.detail.issueRequest(true));
  }

  /** @param {CustomEvent} event */
  unsent(event) {
    this.putBack?.();
    this.outbox.failed(event);
  }

  /** @param {CustomEvent} event */
  failed(event) {
    const isLocked = refused(event.detail.xhr.getResponseHeader("X-Session"));
    if (isLocked || event.detail.xhr.status >= 500) this.putBack?.(); // with every other refusal the server kept the log
    if (isLocked) {
      this.outbox.refused(event);
      return;
    }
    if (event.detail.xhr.status === 409 && this.outbox.wasResent) {
      window.location.reload(); // what was sent the first time had arrived: only its answer was lost
      return;
    }
    const text = event.detail.xhr.responseText;
    showProblem(text.length < 400 ? text.trim() : _("Something went wrong on our side. Your saved work is kept."));
  }

  /** @param {HTMLElement} root */
  reserve(root) {
    const token = /** @type {HTMLInputElement | null} */ (root.querySelector("[name=csrfmiddlewaretoken]"));
    fetch(root.dataset.reserveUrl || "", { method: "POST", headers: { "X-CSRFToken": token?.value || "" } }).catch(() => {});
  }

  clock() {
    const notice = /** @type {HTMLElement | null | undefined} */ (this.root?.querySelector("[data-deadline-notice]"));
    if (!notice || !this.root) return;
    const minutes = (Date.parse(this.root.dataset.deadline || "") - Date.now()) / 60_000;
    notice.hidden = minutes > LAST_MINUTES;
    const text = notice.querySelector("[data-deadline-text]");
    if (text) text.textContent = minutes > 0 ? _("%s min left").replace("%s", String(Math.ceil(minutes))) : _("Time is up; your draft is kept");
  }

  async extend() {
    if (!this.root) return;
    const token = /** @type {HTMLInputElement} */ (this.root.querySelector("[name=csrfmiddlewaretoken]"));
    const response = await fetch(this.root.dataset.extendUrl || "", {
      method: "POST",
      headers: { "X-CSRFToken": token.value, Accept: "application/json" },
    });
    const answer = await response.json();
    if (response.ok) this.root.dataset.deadline = answer.deadline_at;
    else showProblem(answer.error);
    this.clock();
  }
}

/**
 * Start the desk of a task type. Each has a module that calls this with its own stages.
 * @param {Record<string, any>} stages
 */
export function start(stages) {
  new Desk(stages);
}
