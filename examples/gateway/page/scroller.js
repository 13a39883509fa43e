/** Keeps the end of a growing conversation in sight, unless the reader went up. */

/** How near to the end, in pixels, counts as there. */
const NEAR = 48;

/** Follows the end of a scrolling element. */
export class Scroller {
  #box;
  #jump;
  #following = true;
  #lastTop = 0;

  /**
   * @param {HTMLElement} box What scrolls.
   * @param {HTMLButtonElement} jump Takes the reader to the end; shown when the end is out of sight.
   */
  constructor(box, jump) {
    this.#box = box;
    this.#jump = jump;
    box.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    jump.addEventListener("click", () => this.toEnd());
    // The box shrinks when the writing area grows or a keyboard appears.
    new ResizeObserver(() => this.follow()).observe(box);
  }

  /** Whether the reader is at the end. */
  get isFollowing() {
    return this.#following;
  }

  /** The conversation grew. */
  follow() {
    if (this.#following) this.#box.scrollTop = this.#box.scrollHeight;
    else this.#jump.hidden = false;
  }

  /**
   * Adds something above what the reader sees, which stays where it is.
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
    this.follow();
  }

  #onScroll() {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    const distance = scrollHeight - scrollTop - clientHeight;
    // Going up by a little must be enough to stay there.
    this.#following = scrollTop < this.#lastTop ? distance < 1 : distance < NEAR;
    this.#lastTop = scrollTop;
    if (this.#following) this.#jump.hidden = true;
  }
}
