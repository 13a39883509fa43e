/** Keeps the end of a growing conversation visible, unless the reader has scrolled up. */

/** Maximum distance from the end, in pixels, that counts as the end. */
const NEAR = 48;

/** Follows the end of a scrolling element. */
export class Scroller {
  #box;
  #jump;
  #following = true;
  #lastTop = 0;
  #isScheduled = false;

  /**
   * @param {HTMLElement} box The scrolling element.
   * @param {HTMLButtonElement} jump Scrolls to the end; shown while the end is not visible.
   */
  constructor(box, jump) {
    this.#box = box;
    this.#jump = jump;
    box.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    // A frame that follows the end would take back what the wheel has scrolled before its event.
    box.addEventListener("wheel", ({ deltaY }) => deltaY < 0 && box.scrollTop > 0 && this.#leave(), { passive: true });
    jump.addEventListener("click", () => this.toEnd());
    // The box shrinks when the message box grows or a keyboard appears.
    new ResizeObserver(() => this.follow()).observe(box);
  }

  /** Whether the reader is at the end. */
  get isFollowing() {
    return this.#following;
  }

  #leave() {
    this.#following = false;
    this.#jump.hidden = false;
  }

  /** Handles growth of the conversation. */
  follow() {
    if (this.#following) this.#scroll();
    else this.#jump.hidden = false;
  }

  /** Handles growth of the conversation with the next frame, since each scroll needs a layout. */
  followSoon() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.follow();
    });
  }

  #scroll() {
    this.#box.scrollTop = this.#box.scrollHeight;
    this.#lastTop = this.#box.scrollTop;
  }

  /**
   * Adds content above the visible part, which stays in place.
   *
   * @param {() => void} add
   */
  hold(add) {
    const fromEnd = this.#box.scrollHeight - this.#box.scrollTop;
    add();
    this.#box.scrollTop = this.#box.scrollHeight - fromEnd;
  }

  toEnd() {
    this.#following = true;
    this.#jump.hidden = true;
    this.#scroll();
  }

  #onScroll() {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    // The conversation has changed since it was scrolled to its end.
    if (this.#following && this.#isScheduled) return;
    const distance = scrollHeight - scrollTop - clientHeight;
    // A small scroll upwards stops the following.
    this.#following = scrollTop < this.#lastTop ? distance < 1 : distance < NEAR;
    this.#lastTop = scrollTop;
    if (this.#following) this.#jump.hidden = true;
  }
}
