/** The view of an invitation: one card. @module */

import type { InvitationAnswer, ParsedInvitation } from "@sig/jose";
import { useMemo } from "preact/hooks";
import type { BrowserKey } from "../../browser/key_store.ts";
import { usePage } from "../api.ts";
import { CopyButton, Did, Download } from "../copy.tsx";
import { Button, Fold, Outcome, Preformatted, Waiting } from "../elements.tsx";
import { type ErrorText, fill, readTexts } from "../sign_in/error_texts.ts";
import { hostOf, visibleText } from "../text.ts";
import { spokenTime, Time } from "../time.tsx";
import { OfferCard } from "./offer_card.tsx";
import { parse, type Refused, useInvitation } from "./use_invitation.ts";

/** The card in the middle of the page. */
export function InvitationView({ text, autoFocus }: {
  /** The invitation in the link, which no server receives. */
  readonly text: string;
  readonly autoFocus: boolean;
}) {
  const parsed = useMemo(() => parse(text), [text]);
  return (
    <div class="narrow">
      <h1 class="visually-hidden">Invitation</h1>
      {"at" in parsed
        ? <Refusal state={parsed} autoFocus={autoFocus} />
        : <InvitationCard parsed={parsed} autoFocus={autoFocus} />}
      <p class="promise">
        The invitation came in the link and was read in this browser only. Your
        key never leaves it.
      </p>
    </div>
  );
}

function InvitationCard({ parsed, autoFocus }: {
  readonly parsed: ParsedInvitation;
  readonly autoFocus: boolean;
}) {
  const invitation = useInvitation(parsed);
  const { state, restart } = invitation;
  switch (state.at) {
    case "verifying":
      return <Waiting text="Verifying the invitation…" />;
    case "refused":
      return <Refusal {...{ state, parsed, autoFocus, restart }} />;
    case "open":
      return <OfferCard {...{ invitation, parsed, state, autoFocus }} />;
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
      return <Answered {...{ parsed, ...state }} />;
  }
}

function Refusal({ state, parsed, autoFocus, restart }: {
  readonly state: Refused;
  readonly parsed?: ParsedInvitation;
  readonly autoFocus: boolean;
  readonly restart?: () => void;
}) {
  const { error } = state;
  const { all } = usePage().keys;
  const { title, next, canRetry } = explain(parsed, state, all);
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

const TEXTS = readTexts(`
documents What {issuer} publishes is not valid
  So nobody can tell whether it made this invitation. Only the issuer can fix that. Nothing was signed.
invitation_expired !This invitation expired {at}
  {ask}
accepted !You accepted this invitation
  {issuer} published your relationship in {event}. Sign in with the key of this browser.
invitation_used !This invitation was used
  It was answered with another key: {event} of {issuer}. {ask}
signature_invalid !{issuer} did not sign this invitation
  It was changed on the way, or somebody else made it. {ask}
key_not_found !{issuer} does not know this invitation’s key
  It was signed with a key that {issuer} does not publish. {ask}
clock This invitation is from the future
  The clock of this device, or the issuer’s, is wrong. Check the time here, then try again.
invalid_invitation !This invitation is incomplete
  The link was cut off or changed on the way. Copy all of it again. {ask}
other !This invitation can’t be answered
  {ask}
`);

/**
 * Returns what is wrong with an invitation, what to do next, and whether
 * verifying again may help.
 */
function explain(
  invitation: ParsedInvitation | undefined,
  { error: { code, context }, isIssuers }: Refused,
  ownKeys: readonly BrowserKey[],
): ErrorText {
  const issuer = invitation === undefined
    ? "the person who invited you"
    : hostOf(invitation.claims.iss);
  const isOwn = ownKeys.some(({ did }) => did === context.subject);
  const name = isIssuers
    ? "documents"
    : code === "invitation_used" && isOwn
    ? "accepted"
    : code === "invalid_invitation" && context.pointer === "/iat"
    ? "clock"
    : code === "key_not_authorized"
    ? "key_not_found"
    : code;
  const text = TEXTS.get(name) ?? TEXTS.get("other")!;
  const at = invitation && spokenTime(invitation.expires_at, new Date());
  const ask = `Ask ${issuer} for a new one. Nothing was signed.`;
  const values = { issuer, at, ask, event: `event #${context.sequence}` };
  const { title, next } = text;
  return { ...text, title: fill(title, values), next: fill(next, values) };
}

const FILE = "answer.json";

/** The answer, which the person sends; no server is involved. */
function Answered({ parsed, answer, signer }: {
  readonly parsed: ParsedInvitation;
  readonly answer: InvitationAnswer;
  readonly signer: BrowserKey;
}) {
  const text = `${JSON.stringify(answer)}\n`;
  return (
    <Outcome
      cardId="answered"
      kind="success"
      title="Now send your answer back"
      text="Send it to the person who invited you, by mail or message. It contains no secret, counts for this invitation only, and signs you in nowhere."
      actions={
        <>
          <CopyButton text={() => text} what="the answer" look="primary" />
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
            <Did did={signer.did} what="your did:key" />
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
