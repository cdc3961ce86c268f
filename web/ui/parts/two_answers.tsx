/** The two answers to a request, and to an invitation. @module */

import type { ComponentChildren } from "preact";

/** Approve and decline, and what stands beside them. */
export function TwoAnswers(
  { canApprove, canDecline, onApprove, onDecline, children }: {
    readonly canApprove: boolean;
    readonly canDecline: boolean;
    readonly onApprove: () => void;
    readonly onDecline: () => void;
    readonly children?: ComponentChildren;
  },
) {
  return (
    <div class="actions answer">
      <button
        type="button"
        id="approve"
        class="primary"
        disabled={!canApprove}
        onClick={onApprove}
      >
        Approve
      </button>
      <button
        type="button"
        id="decline"
        disabled={!canDecline}
        onClick={onDecline}
      >
        Decline
      </button>
      {children}
    </div>
  );
}
