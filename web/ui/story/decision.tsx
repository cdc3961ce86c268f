/** The story's question, asked of the feed that was verified. @module */

import type { CheckedFeed } from "../feed/check_feed.ts";
import { check } from "../libraries/mod.ts";
import { Notice } from "../parts/notice.tsx";
import { shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import { reasonSentence } from "../server/meanings.ts";
import type { Samples } from "./samples.ts";

/** What the subject must be. */
export const REQUIRE: readonly string[] = ["role=deploy"];

/** Allow, deny with its reason, or that there is no answer. */
export function Decision({ checked, samples }: {
  readonly checked: CheckedFeed;
  readonly samples: Samples;
}) {
  const { report, state } = checked;
  const { subject, before } = samples;
  if (state === undefined) {
    const [fault] = report.valid ? [] : report.errors;
    return (
      <Notice kind="danger">
        <h3>Not valid, so there is no answer</h3>
        <p>
          {fault && (
            <>
              {shown(fault.detail)} <code class="code">{fault.code}</code>
            </>
          )}
        </p>
        <p>
          One bad line makes the whole feed invalid. It never turns into an
          allow, nor into a deny: who asks is told that nobody can know.
        </p>
      </Notice>
    );
  }
  const now = check(state, { subject, require: REQUIRE, now: new Date() });
  if (now.decision === "allow") {
    return (
      <Notice kind="success">
        <h3>Allow</h3>
        <p>
          Relationship <code>{shown(now.matched_relationship_id)}</code>{" "}
          has the role and is in force.
        </p>
      </Notice>
    );
  }
  const [reason] = now.reasons;
  const then = check(state, {
    subject,
    require: REQUIRE,
    at: before,
    now: new Date(),
  });
  return (
    <>
      <Notice kind="danger">
        <h3>Deny</h3>
        {reason && (
          <p>
            {reasonSentence(reason.code)}
            {reason.sequence !== undefined &&
              ` See event #${reason.sequence}.`}{" "}
            <code class="code">{reason.code}</code>
          </p>
        )}
      </Notice>
      <p class="quiet">
        Asked about <Time instant={before} />, the same feed says{" "}
        <strong>{then.decision}</strong>: an auditor sees both.
      </p>
    </>
  );
}
