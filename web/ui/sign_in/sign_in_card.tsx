/** A login as one card: who asks, what it learns, and the answer. @module */

import { Notice } from "../parts/notice.tsx";
import { useFocusOnAppearing } from "../parts/focus.ts";
import type { SignInCardProps } from "./card_props.ts";
import { ByHand } from "./by_hand.tsx";
import { Refusal } from "./refusal.tsx";
import { RequestCard } from "./request_card.tsx";
import { Result } from "./result.tsx";
import type { LoginFlow } from "./use_login.ts";

/** The card, wherever the login stands. */
export function SignInCard(props: SignInCardProps) {
  const { site, flow, next } = props;
  const { stage, asked } = flow;
  switch (stage.at) {
    case "start":
      return (
        <section class="card sign-in-card" aria-busy="true">
          <p class="quiet">Getting the request…</p>
        </section>
      );
    case "asked":
      return stage.expired
        ? <Expired flow={flow} />
        : asked && <RequestCard {...props} asked={asked} />;
    case "in":
      return <Result site={site} login={stage.login} flow={flow} next={next} />;
    case "leaving":
      return (
        <section class="card sign-in-card" role="status">
          <h2>You are signed in</h2>
          <p class="quiet">Taking you back…</p>
        </section>
      );
    case "declined":
      return <Declined flow={flow} />;
    case "refused":
      return (
        <>
          <Refusal
            // Each refusal is said anew, and takes the focus.
            key={stage}
            site={site}
            flow={flow}
            stage={stage}
            next={next}
          />
          {stage.lasts && asked && (
            <details class="card more again">
              <summary>Answer this request again</summary>
              <ByHand challenge={asked.challenge} onAnswer={flow.send} />
            </details>
          )}
        </>
      );
  }
}

function Expired({ flow }: { readonly flow: LoginFlow }) {
  return (
    <section class="card sign-in-card" role="status">
      <Notice kind="warning">
        <h2>The request has expired</h2>
        <p>Nothing was signed.</p>
      </Notice>
      <div class="actions">
        <button
          type="button"
          class="primary"
          onClick={() => void flow.start()}
        >
          Ask again
        </button>
      </div>
    </section>
  );
}

function Declined({ flow }: { readonly flow: LoginFlow }) {
  const heading = useFocusOnAppearing<HTMLHeadingElement>();
  return (
    <section class="card sign-in-card">
      <Notice kind="info">
        <h2 ref={heading} id="outcome">You declined</h2>
        <p>Nothing was signed or sent.</p>
      </Notice>
      <div class="actions">
        <button type="button" onClick={() => void flow.start()}>
          Start again
        </button>
      </div>
    </section>
  );
}
