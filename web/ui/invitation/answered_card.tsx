/** The answer to an invitation, and how it gets back. @module */

import type { BrowserKey } from "../libraries/login.ts";
import type { InvitationAnswer, ParsedInvitation } from "../libraries/mod.ts";
import { CopyButton, Did } from "../parts/copy.tsx";
import { downloadJson } from "../parts/download.ts";
import { useFocusOnAppearing } from "../parts/focus.ts";
import { Icon } from "../parts/icon.tsx";
import { hostOf } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";

const FILE = "answer.json";

/** Copy or download; the person sends it, since no server is needed. */
export function AnsweredCard({ invitation, answer, stored }: {
  readonly invitation: ParsedInvitation;
  readonly answer: InvitationAnswer;
  readonly stored: BrowserKey;
}) {
  const heading = useFocusOnAppearing<HTMLHeadingElement>();
  const host = hostOf(invitation.claims.iss);
  const text = `${JSON.stringify(answer)}\n`;
  return (
    <section class="card sign-in-card" id="answered">
      <p class="big-mark">
        <Icon name="yes" />
      </p>
      <h2 ref={heading} id="outcome">Now send your answer back</h2>
      <p>
        Give it to whoever invited you, in a mail or a message. It holds no
        secret, counts for this invitation only, and signs you in nowhere.
      </p>
      <div class="actions">
        <CopyButton text={() => text} what="the answer" spelled="primary" />
        <button type="button" onClick={() => downloadJson(FILE, text)}>
          Download {FILE}
        </button>
      </div>
      <div class="next">
        <h3>Then</h3>
        <ul class="then">
          <li>
            {host} must take it before{" "}
            <Time instant={invitation.expires_at} />; you are published, and
            known to others, from then on.
          </li>
          <li>
            The key that answered lives in this browser: sign in with it here.
            {" "}
            <Did did={stored.did} what="your did:key" />
          </li>
        </ul>
      </div>
      <details class="more">
        <summary>What the answer says</summary>
        <pre tabIndex={0} id="answer-text">{text}</pre>
        <p class="quiet">
          The issuer’s side: <code>sig enrol --dir DIR --answer {FILE}</code>
        </p>
      </details>
    </section>
  );
}
