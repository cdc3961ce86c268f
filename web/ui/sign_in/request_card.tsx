/** A request that waits: what a person must know, and the two answers. @module */

import { useState } from "preact/hooks";
import { hostOf, shortened, shown } from "../parts/text.ts";
import { Fact, Facts } from "../parts/facts.tsx";
import { Notice } from "../parts/notice.tsx";
import { useFocusOnAppearing } from "../parts/focus.ts";
import { TwoAnswers } from "../parts/two_answers.tsx";
import { ByHand } from "./by_hand.tsx";
import { Details } from "./details.tsx";
import { grantWords, mustBe } from "./requirement_words.ts";
import { KeyChoice } from "../keys/key_choice.tsx";
import { MISSING } from "../keys/missing.ts";
import type { SignInCardProps } from "./card_props.ts";
import { TimeLeft } from "./time_left.tsx";
import type { Asked } from "./use_login.ts";

/** Without it an application learns nothing at all. */
const ALWAYS = new Set(["openid"]);

/** The card of a request that was not answered yet. */
export function RequestCard(
  { site, flow, asked, takesFocus = false }: SignInCardProps & {
    readonly asked: Asked;
  },
) {
  const { config, keys } = site;
  const { challenge, client, read } = asked;
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const heading = useFocusOnAppearing<HTMLHeadingElement>(takesFocus);
  const required = mustBe(challenge.require, config.issuer);
  const scopes = challenge.scopes.filter((each) => !ALWAYS.has(each));
  const granted = challenge.scopes.filter((each) => !left.has(each));
  const toggle = (scope: string) => {
    const changed = new Set(left);
    if (!changed.delete(scope)) changed.add(scope);
    setLeft(changed);
  };
  return (
    <section class="card sign-in-card" id="request" aria-labelledby="asks">
      <h2 id="asks" ref={heading}>
        <strong>
          {client === undefined ? hostOf(challenge.audience) : shown(client)}
        </strong>{" "}
        asks you to sign in
      </h2>
      {client !== undefined && (
        <p class="quiet">through {hostOf(challenge.audience)}</p>
      )}
      <Elsewhere audience={challenge.audience} />
      <Facts>
        {required !== undefined && <Fact name="You must be">{required}</Fact>}
        <Fact name="It will learn">
          <ul class="learns">
            <li>
              {keys.current
                ? (
                  <>
                    your key’s name <code>{shortened(keys.current.did)}</code>
                  </>
                )
                : "your key’s name"}
            </li>
            {required !== undefined && <li>that you are {required}</li>}
            {scopes.map((scope, i) => (
              <li key={scope}>
                <label class="check" for={`grant-${i}`}>
                  <input
                    type="checkbox"
                    id={`grant-${i}`}
                    checked={!left.has(scope)}
                    onChange={() => toggle(scope)}
                  />
                  {grantWords(scope)}
                </label>
              </li>
            ))}
          </ul>
        </Fact>
        {challenge.subject !== null && (
          <Fact name="Only for">
            <code>{shown(challenge.subject)}</code>
          </Fact>
        )}
        {keys.all.length > 1 && (
          <Fact name="You answer with">
            <KeyChoice
              keys={keys}
              value={keys.current?.did}
              onChoose={keys.choose}
            />
          </Fact>
        )}
      </Facts>
      <Answer site={site} flow={flow} asked={asked} granted={granted} />
      <Details asked={asked}>
        {read.fault === undefined && keys.missing === undefined && (
          <details class="more">
            <summary>Answer on the command line instead</summary>
            <ByHand challenge={challenge} onAnswer={flow.send} />
          </details>
        )}
      </Details>
    </section>
  );
}

/** Approve and decline, or why not. */
function Answer({ site, flow, asked, granted }: SignInCardProps & {
  readonly asked: Asked;
  readonly granted: readonly string[];
}) {
  const { keys } = site;
  const { challenge, read, now } = asked;
  if (read.fault !== undefined) {
    return (
      <Notice kind="danger">
        <p>
          <strong>This request must not be signed.</strong>
        </p>
        <p>{shown(read.fault)}</p>
      </Notice>
    );
  }
  if (keys.missing !== undefined) {
    return (
      <>
        <Notice kind="warning">
          <p>
            <strong>No key can live here.</strong> {MISSING[keys.missing]}
          </p>
          <p>You can still sign in, on the command line:</p>
        </Notice>
        <ByHand challenge={challenge} onAnswer={flow.send} />
      </>
    );
  }
  return (
    <>
      {keys.ready && keys.current === undefined && (
        <p class="first-key">
          Approving makes your key: kept in this browser, readable by nobody,
          and your name from then on.
        </p>
      )}
      <TwoAnswers
        canApprove={!flow.busy && keys.ready}
        canDecline={!flow.busy}
        onApprove={() => void flow.approve(granted)}
        onDecline={() => void flow.decline()}
      >
        <TimeLeft
          expiresAt={challenge.expires_at}
          now={now}
          onExpired={flow.expire}
        />
      </TwoAnswers>
    </>
  );
}

/** An honest site asks in its own name only. */
function Elsewhere({ audience }: { readonly audience: string }) {
  if (audience === location.origin || audience.startsWith("did:")) return null;
  return (
    <Notice kind="warning">
      <p>
        Careful: this page is{" "}
        <code>{location.origin}</code>, and the request is for another site.
        Approve only if you know why.
      </p>
    </Notice>
  );
}
