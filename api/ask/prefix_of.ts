/** A feed as it was some events ago. @module */

import type { FeedState, RelationshipState } from "@sig/core";

/**
 * The state that a feed had at an earlier event. Its history is shared:
 * questions to a state look only as far as its `last_sequence`.
 */
export function prefixOf(state: FeedState, lastSequence: number): FeedState {
  if (lastSequence === state.last_sequence) return state;
  const { issuer, history } = state;
  return {
    issuer,
    last_sequence: lastSequence,
    history,
    get by_relationship_id() {
      const map = new Map<string, RelationshipState>();
      for (const [id, versions] of history.versions) {
        const version = versions.findLast((each) =>
          each.state.last_sequence <= lastSequence
        );
        if (version !== undefined) map.set(id, version.state);
      }
      return map;
    },
  };
}
