/**
 * An open sign-in request: its site, what the site learns, and the buttons to
 * approve or decline.
 *
 * @module
 */

import { useEffect, useRef, useState } from "preact/hooks";
import type { PageContext } from "../api.ts";
import { Alert, Facts, Fold, Preformatted } from "../elements.tsx";
import { useAutoFocus } from "../focus.ts";
import { ApproveOrDecline, KeyChoice } from "../keys/key_choice.tsx";
import { hostOf, shortened, visibleText } from "../text.ts";
import { spokenTime } from "../time.tsx";
import { CommandLineSteps } from "./command_line.tsx";
import { describeRequirements, permissionLabel, scopeLabel } from "./labels.ts";
import type { SignIn, SignInRequest } from "./use_sign_in.ts";

/** Without this scope an application learns nothing. */
const ALWAYS_GRANTED = "openid";

/** The card of an open request. */
export function RequestCard({ page, signIn, request, autoFocus }: {
  readonly page: PageContext;
  readonly signIn: SignIn;
  readonly request: SignInRequest;
  readonly autoFocus: boolean;
}) {
  const { config, keys } = page;
  const { challenge, client } = request;
  const [declined, setDeclined] = useState<ReadonlySet<string>>(new Set());
  const heading = useAutoFocus<HTMLHeadingElement>(autoFocus);
  const required = describeRequirements(challenge.require, config.issuer);
  const toggle = (scope: string) =>
    setDeclined(declined.symmetricDifference(new Set([scope])));
  const asked = challenge.scopes.filter((each) => each !== ALWAYS_GRANTED);
  const choices = (scopes: readonly string[]) =>
    scopes.map((scope) => (
      <li key={scope}>
        <label class="check">
          <input
            type="checkbox"
            checked={!declined.has(scope)}
            onChange={() => toggle(scope)}
          />
          {permissionLabel(scope) ?? scopeLabel(scope)}
        </label>
      </li>
    ));
  const permissions = asked.filter((each) => permissionLabel(each));
  const learned = asked.filter((each) => !permissionLabel(each));
  const commandLine = (
    <CommandLineSteps challenge={challenge} onAnswer={signIn.send} />
  );
  return (
    <section class="card sign-in-card" id="request" aria-labelledby="asks">
      <h2 id="asks" ref={heading}>
        <strong>
          {client === undefined
            ? hostOf(challenge.audience)
            : visibleText(client)}
        </strong>{" "}
        asks you to sign in
      </h2>
      {client !== undefined && (
        <p class="quiet">through {hostOf(challenge.audience)}</p>
      )}
      <OtherSite audience={challenge.audience} />
      <Facts
        of={{
          "You must be": required,
          "It will learn": (
            <ul class="plain learns">
              <li>
                your key’s name{" "}
                {keys.current && <code>{shortened(keys.current.did)}</code>}
              </li>
              {required !== undefined && <li>that you are {required}</li>}
              {choices(learned)}
            </ul>
          ),
          "It may": permissions.length > 0 && (
            <ul class="plain">{choices(permissions)}</ul>
          ),
          "Only for": challenge.subject !== null && (
            <code>{visibleText(challenge.subject)}</code>
          ),
          "You answer with": keys.all.length > 1 && (
            <KeyChoice
              keys={keys}
              value={keys.current?.did}
              onChoose={(did) => void keys.choose(did)}
            />
          ),
        }}
      />
      {request.text === undefined
        ? (
          <Alert kind="danger">
            <p>
              <strong>This request must not be signed.</strong>
            </p>
            <p>{visibleText(request.fault)}</p>
          </Alert>
        )
        : (
          <ApproveOrDecline
            keys={keys}
            createsKey={keys.current === undefined}
            isBusy={signIn.busy}
            commandLine={commandLine}
            asksFirst
            onApprove={() =>
              signIn.approve(
                challenge.scopes.filter((each) => !declined.has(each)),
              )}
            onDecline={() => void signIn.decline()}
          >
            <TimeLeft
              expiresAt={challenge.expires_at}
              now={request.now}
              onExpired={signIn.expire}
            />
          </ApproveOrDecline>
        )}
      <Fold id="details" title="Details">
        {request.text !== undefined && (
          <>
            <h3>The exact message</h3>
            <Preformatted class="message" value={request.text} />
          </>
        )}
        <Facts
          of={{
            Site: <code>{visibleText(challenge.audience)}</code>,
            Nonce: <code>{visibleText(challenge.nonce)}</code>,
            Request: <code>{visibleText(challenge.challenge_id)}</code>,
            Expires: spokenTime(challenge.expires_at, request.now()),
          }}
        />
        {request.text !== undefined && keys.missing === undefined && (
          <Fold title="Answer on the command line instead">
            {commandLine}
          </Fold>
        )}
      </Fold>
    </section>
  );
}

/**
 * Warns if the request is for another site; an honest site requests only its
 * own.
 */
function OtherSite({ audience }: { readonly audience: string }) {
  if (audience === location.origin || audience.startsWith("did:")) return null;
  return (
    <Alert kind="warning">
      <p>
        Careful: this page is{" "}
        <code>{location.origin}</code>, and the request is for another site.
        Approve only if you know why.
      </p>
    </Alert>
  );
}

const TICK_MS = 500;
/** When screen readers announce it, once. */
const LAST_CALL_SECONDS = 30;

/** Counts down with the server's clock. */
function TimeLeft({ expiresAt, now, onExpired }: {
  readonly expiresAt: string;
  readonly now: () => Date;
  readonly onExpired: () => void;
}) {
  const read = () => (Date.parse(expiresAt) - now().getTime()) / 1000;
  const [seconds, setSeconds] = useState(read);
  const expired = useRef(onExpired);
  expired.current = onExpired;
  useEffect(() => {
    const tick = () => {
      const left = read();
      setSeconds(left);
      if (left > 0) return;
      clearInterval(timer);
      expired.current();
    };
    const timer = setInterval(tick, TICK_MS);
    tick();
    return () => clearInterval(timer);
  }, [expiresAt]);
  const isLow = seconds <= LAST_CALL_SECONDS;
  const whole = Math.max(0, Math.ceil(seconds));
  return (
    <span class="time-left" data-kind={isLow ? "danger" : undefined}>
      Time left{" "}
      <span class="digits" role="timer" aria-label="Time left">
        {Math.floor(whole / 60)}:{String(whole % 60).padStart(2, "0")}
      </span>
      <span class="visually-hidden" aria-live="polite">
        {isLow ? `Less than ${LAST_CALL_SECONDS} seconds left` : ""}
      </span>
    </span>
  );
}
