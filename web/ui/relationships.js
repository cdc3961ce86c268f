// @ts-check
/// <reference lib="dom" />
/** The relationships of a feed with what each comes to now. @module */

import { chips, el, shown } from "./dom.js";
import { statusBadge, validity } from "./explanation.js";
import { time } from "./format.js";
import { showLongList } from "./long_list.js";
import { dumpState, EFFECTIVE_STATUSES } from "./verify.js";

/** @typedef {import("./verify.js").EffectiveStatus} EffectiveStatus */
/** @typedef {import("./verify.js").RelationshipState} RelationshipState */

/**
 * What holds comes first, what is over last.
 *
 * @type {Readonly<Record<EffectiveStatus, number>>}
 */
const PLACES = { active: 1, not_yet_valid: 2, expired: 3, revoked: 4 };
const STATUSES = EFFECTIVE_STATUSES.toSorted((a, b) => PLACES[a] - PLACES[b]);

/**
 * @param {HTMLElement} container
 * @param {import("./verify.js").FeedState} state
 */
export function showRelationships(container, state) {
  const now = new Date();
  const items = STATUSES.flatMap((status) =>
    Array.from(
      dumpState(state, { now, status }).by_relationship_id.values(),
      (relationship) => ({ relationship, status }),
    )
  );
  showLongList(container, {
    items,
    draw: relationshipItem,
    one: "relationship",
    none: "The feed names no relationship.",
    className: "entries",
  });
}

/** @param {{ relationship: RelationshipState, status: EffectiveStatus }} item */
function relationshipItem({ relationship, status }) {
  const { revoked_reason_code, revoked_effective_at } = relationship;
  return el(
    "li",
    { "data-status": status },
    el(
      "div",
      { class: "row" },
      el("strong", {}, relationship.relationship_type),
      statusBadge(status),
    ),
    el("code", {}, shown(relationship.subject)),
    el(
      "p",
      {},
      el("code", {}, shown(relationship.relationship_id)),
      ", ",
      validity(relationship.valid_from, relationship.valid_until),
    ),
    relationship.roles.length > 0 ? chips(relationship.roles) : null,
    el(
      "p",
      { class: "quiet" },
      `last event ${relationship.last_sequence}`,
      revoked_effective_at === undefined
        ? null
        : `, ${shown(revoked_reason_code)}, effective `,
      revoked_effective_at === undefined ? null : time(revoked_effective_at),
    ),
  );
}
