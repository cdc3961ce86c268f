/** The view of an invitation (PROTOCOL §7b). @module */

import { useFocusOnAppearing } from "../parts/focus.ts";
import { Notice } from "../parts/notice.tsx";
import { shown } from "../parts/text.ts";
import type { Site } from "../site/site.ts";
import { AnsweredCard } from "./answered_card.tsx";
import { OfferCard } from "./offer_card.tsx";
import { invitationRefusal, type RefusalWords } from "./refusal_words.ts";
import { type InvitationFlow, useInvitation } from "./use_invitation.ts";

/** One card, in the middle. */
export function InvitationView({ site, text, takesFocus }: {
  readonly site: Site;
  /** Whether the person was on the page already, and came to this view. */
  readonly takesFocus: boolean;
  /** What stands in the link: it reaches no server. */
  readonly text: string;
}) {
  const flow = useInvitation(site, text);
  return (
    <div class="narrow">
      <h1 class="visually-hidden">Invitation</h1>
      <InvitationCard site={site} flow={flow} takesFocus={takesFocus} />
      <p class="promise">
        The invitation came in the link and was read in this browser only. Your
        key never leaves it.
      </p>
    </div>
  );
}

function InvitationCard({ site, flow, takesFocus }: {
  readonly site: Site;
  readonly takesFocus: boolean;
  readonly flow: InvitationFlow;
}) {
  const { invitation, stage } = flow;
  if (stage.at === "refused" || invitation === undefined) {
    if (stage.at !== "refused") return null;
    const { error, isIssuers } = stage;
    return (
      <Refused
        words={invitationRefusal(invitation, error, isIssuers, new Date())}
        exactly={error.message}
        code={error.code}
        flow={flow}
        takesFocus={takesFocus}
      />
    );
  }
  switch (stage.at) {
    case "judging":
      return (
        <section class="card sign-in-card" aria-busy="true">
          <p class="quiet">Verifying the invitation…</p>
        </section>
      );
    case "open":
      return (
        <OfferCard
          site={site}
          flow={flow}
          invitation={invitation}
          stage={stage}
          takesFocus={takesFocus}
        />
      );
    case "declined":
      return <Declined flow={flow} />;
    case "answered":
      return (
        <AnsweredCard
          invitation={invitation}
          answer={stage.answer}
          stored={stage.key}
        />
      );
  }
}

function Refused({ words, exactly, code, flow, takesFocus }: {
  readonly words: RefusalWords;
  readonly exactly: string;
  readonly code: string;
  readonly flow: InvitationFlow;
  readonly takesFocus: boolean;
}) {
  const heading = useFocusOnAppearing<HTMLHeadingElement>(takesFocus);
  return (
    <section class="card sign-in-card">
      <Notice kind="danger">
        <h2 ref={heading} id="outcome">{words.title}</h2>
        <p>{words.next}</p>
      </Notice>
      {words.again && (
        <div class="actions">
          <button type="button" class="primary" onClick={flow.again}>
            Look again
          </button>
        </div>
      )}
      <details class="more">
        <summary>Details</summary>
        <p>
          {shown(exactly)} <code class="code">{code}</code>
        </p>
      </details>
    </section>
  );
}

function Declined({ flow }: { readonly flow: InvitationFlow }) {
  const heading = useFocusOnAppearing<HTMLHeadingElement>();
  return (
    <section class="card sign-in-card">
      <Notice kind="info">
        <h2 ref={heading} id="outcome">You declined</h2>
        <p>
          Nothing was signed. Nobody is told: say so to whoever invited you.
        </p>
      </Notice>
      <div class="actions">
        <button type="button" onClick={flow.again}>
          Look at it again
        </button>
      </div>
    </section>
  );
}
