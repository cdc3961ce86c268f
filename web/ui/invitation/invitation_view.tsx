/** The view of an invitation: one card. @module */

import type { InvitationAnswer, ParsedInvitation } from "@sig/jose";
import type { BrowserKey } from "../../browser/key_store.ts";
import type { PageContext } from "../api.ts";
import { CopyButton, Did, Download } from "../copy.tsx";
import { Button, Fold, Outcome, Preformatted, Waiting } from "../elements.tsx";
import { hostOf, visibleText } from "../text.ts";
import { Time } from "../time.tsx";
import { OfferCard } from "./offer_card.tsx";
import { refusalText } from "./refusal_texts.ts";
import { useInvitation } from "./use_invitation.ts";

interface InvitationProps {
  readonly page: PageContext;
  /** The invitation in the link, which no server receives. */
  readonly text: string;
  readonly autoFocus: boolean;
}

/** The card in the middle of the page. */
export function InvitationView(props: InvitationProps) {
  return (
    <div class="narrow">
      <h1 class="visually-hidden">Invitation</h1>
      <InvitationCard {...props} />
      <p class="promise">
        The invitation came in the link and was read in this browser only. Your
        key never leaves it.
      </p>
    </div>
  );
}

function InvitationCard({ page, text, autoFocus }: InvitationProps) {
  const invitation = useInvitation(page, text);
  const { parsed, state, restart } = invitation;
  if (state.at === "refused") {
    const { error } = state;
    const { title, next, canRetry } = refusalText(parsed, state, page.keys.all);
    return (
      <Outcome
        kind={error.code === "invitation_used" ? "info" : "danger"}
        title={title}
        text={next}
        autoFocus={autoFocus}
        actions={canRetry && (
          <Button class="primary" onClick={restart}>Verify again</Button>
        )}
      >
        <Fold title="Details">
          <p>
            {visibleText(error.message)} <code class="code">{error.code}</code>
          </p>
        </Fold>
      </Outcome>
    );
  }
  if (parsed === undefined) return null;
  switch (state.at) {
    case "verifying":
      return <Waiting text="Verifying the invitation…" />;
    case "open":
      return (
        <OfferCard
          {...{ keys: page.keys, invitation, parsed, state, autoFocus }}
        />
      );
    case "declined":
      return (
        <Outcome
          kind="info"
          title="You declined"
          text="Nothing was signed and nobody was notified. Tell the person who invited you."
          actions={<Button onClick={restart}>Back to the invitation</Button>}
        />
      );
    case "answered":
      return (
        <Answered parsed={parsed} answer={state.answer} stored={state.key} />
      );
  }
}

const FILE = "answer.json";

/** The answer, which the person sends; no server is involved. */
function Answered({ parsed, answer, stored }: {
  readonly parsed: ParsedInvitation;
  readonly answer: InvitationAnswer;
  readonly stored: BrowserKey;
}) {
  const text = `${JSON.stringify(answer)}\n`;
  return (
    <Outcome
      id="answered"
      kind="success"
      title="Now send your answer back"
      text="Send it to the person who invited you, by mail or message. It contains no secret, counts for this invitation only, and signs you in nowhere."
      actions={
        <>
          <CopyButton text={() => text} what="the answer" isPrimary />
          <Download name={FILE} text={text} />
        </>
      }
    >
      <div class="next">
        <h3>Then</h3>
        <ul class="plain">
          <li>
            {hostOf(parsed.claims.iss)} must accept it before{" "}
            <Time instant={parsed.expires_at} />. From then on the relationship
            is public.
          </li>
          <li>
            The key that answered is in this browser. Sign in with it here.{" "}
            <Did did={stored.did} what="your did:key" />
          </li>
        </ul>
      </div>
      <Fold title="What the answer says">
        <Preformatted id="answer-text" value={text} />
        <p class="quiet">
          The issuer runs <code>sig enrol --dir DIR --answer {FILE}</code>
        </p>
      </Fold>
    </Outcome>
  );
}
