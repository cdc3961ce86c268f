/** What is signed, to the letter, for whoever wants to see it. @module */

import type { ComponentChildren } from "preact";
import { Fact, Facts } from "../parts/facts.tsx";
import { shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import type { Asked } from "./use_login.ts";

/** Folded: nobody needs it to decide, everybody may look. */
export function Details({ asked, children }: {
  readonly asked: Asked;
  readonly children: ComponentChildren;
}) {
  const { challenge, read } = asked;
  return (
    <details class="more" id="details">
      <summary>Details</summary>
      {read.text !== undefined && (
        <>
          <h3>The exact message</h3>
          <pre class="message" tabIndex={0}>
            {shown(read.text, { lines: true })}
          </pre>
        </>
      )}
      <Facts>
        <Fact name="Site">
          <code>{shown(challenge.audience)}</code>
        </Fact>
        <Fact name="Nonce">
          <code>{shown(challenge.nonce)}</code>
        </Fact>
        <Fact name="Request">
          <code>{shown(challenge.challenge_id)}</code>
        </Fact>
        <Fact name="Waits until">
          <Time instant={challenge.expires_at} />
        </Fact>
      </Facts>
      {children}
    </details>
  );
}
