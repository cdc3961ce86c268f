// @ts-check
/// <reference lib="dom" />
/** The events of a feed, the newest first. @module */

import { byId } from "./dom.js";
import { fullItem } from "./event_items.js";
import { showLongList } from "./long_list.js";

const TYPING_MS = 200;

/**
 * @param {HTMLElement} container
 * @param {readonly import("./verify.js").VerifiedEvent[]} events
 */
export function showTimeline(container, events) {
  const filter = byId("timeline-filter", HTMLInputElement);
  const newestFirst = events.toReversed();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  filter.value = "";
  filter.oninput = () => {
    clearTimeout(waiting);
    waiting = setTimeout(render, TYPING_MS);
  };
  render();

  function render() {
    const wanted = filter.value.trim().toLowerCase();
    showLongList(container, {
      items: wanted === ""
        ? newestFirst
        : newestFirst.filter(({ event }) =>
          event.subject.toLowerCase().includes(wanted)
        ),
      draw: fullItem,
      one: "event",
      none: wanted === "" ? "The feed is empty." : "No subject contains that.",
      className: "entries timeline",
    });
  }
}
