/** The view of a sign-in: one card. @module */

import { ERROR_CODES, type ErrorCode } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { ComponentChildren } from "preact";
import type { Login, Problem } from "../api.ts";
import { Did } from "../copy.tsx";
import { Button, Fold, Outcome, Waiting } from "../elements.tsx";
import { hostOf, shortened } from "../text.ts";
import { Time } from "../time.tsx";
import { describeRequirements, scopeLabel } from "./error_texts.ts";
import { Refusal } from "./refusal.tsx";
import { CommandLineSteps, RequestCard } from "./request_card.tsx";
import { useSignIn } from "./use_sign_in.ts";

/** The properties of a sign-in. */
interface SignInProps {
  readonly interaction?: string | undefined;
  readonly autoFocus: boolean;
  /** The next step after the sign-in in the demo. */
  readonly next?: ComponentChildren;
  readonly onEnd?: (end: Login | Problem) => void;
}

/** The card in the middle of the page. */
export function SignInView(props: SignInProps) {
  return (
    <div class="narrow">
      <h1 class="visually-hidden">Sign in</h1>
      <SignInCard {...props} />
      <p class="promise">
        With your key, and no password. The site learns only what you approve.
      </p>
    </div>
  );
}

/** A sign-in; a card for each of its states. */
export function SignInCard(props: SignInProps) {
  const { interaction, autoFocus, next, onEnd } = props;
  const signIn = useSignIn(interaction, onEnd);
  const { state, request, start } = signIn;
  switch (state.at) {
    case "loading":
      return <Waiting text="Getting the request…" />;
    case "request":
      return request && <RequestCard {...{ signIn, request, autoFocus }} />;
    case "expired":
      return (
        <Outcome
          kind="warning"
          icon="clock"
          title="The request has expired"
          text="Nothing was signed. You were not refused."
          actions={
            <Button class="primary" onClick={start}>Get a new request</Button>
          }
        />
      );
    case "done":
      return (
        <Result login={state.login}>
          {next ?? (
            <div class="actions">
              <Button onClick={start}>Sign in again</Button>
            </div>
          )}
        </Result>
      );
    case "leaving":
      return (
        <section class="card sign-in-card" role="status">
          <h2>You are signed in</h2>
          <p class="quiet">Taking you back…</p>
        </section>
      );
    case "declined":
      return (
        <Outcome
          kind="info"
          title="You declined"
          text="Nothing was signed or sent."
          actions={<Button onClick={start}>Start again</Button>}
        />
      );
    case "refused":
      return (
        <>
          {/* Each refusal takes the focus. */}
          <Refusal key={state} {...{ signIn, state, next }} />
          {request && mayCorrect(state.problem) && (
            <Fold class="card" title="Answer this request again">
              <CommandLineSteps
                challenge={request.challenge}
                onAnswer={signIn.send}
              />
            </Fold>
          )}
        </>
      );
  }
}

/** Problems after which the same request can't be answered again. */
const FINAL = new Set([
  "challenge_burned",
  "challenge_expired",
  "challenge_not_found",
  "challenge_used",
  "relationship_denied",
]);

/** Whether an answer from the command line was wrong, and may be corrected. */
function mayCorrect({ code }: Problem): boolean {
  return !FINAL.has(code) && Object.hasOwn(ERROR_CODES, code) &&
    !["unavailable", "internal", "conflict"].includes(
      ERROR_CODES[code as ErrorCode].category,
    );
}

/** Shows the signed-in key, and what the site has learned. */
function Result({ login, children }: {
  readonly login: Login;
  readonly children: ComponentChildren;
}) {
  const { subject, scopes, verified_at } = login;
  const relationship = isObject(login.relationship) ? login.relationship : {};
  const { requirements, issuer } = relationship;
  const type = describeRequirements(
    Array.isArray(requirements)
      ? requirements.filter(isObject).map(({ key, value }) => `${key}=${value}`)
      : [],
    typeof issuer === "string" ? issuer : null,
  );
  return (
    <Outcome
      cardId="result"
      kind="success"
      title="You are signed in"
      text={
        <>
          as <strong>{shortened(subject)}</strong>
          {type && `, ${type}`}, checked now.
        </>
      }
    >
      <h3>What {hostOf(login.audience)} learned</h3>
      <ul class="plain learns">
        <li>
          your key’s name <Did did={subject} what="your did:key" />
        </li>
        {type && <li>that you are {type}</li>}
        {scopes.map((scope) => <li key={scope}>{scopeLabel(scope)}</li>)}
        <li class="quiet">
          at <Time instant={verified_at} />, and nothing else
        </li>
      </ul>
      {children}
    </Outcome>
  );
}
