/**
 * An open sign-in request: its site, what the site learns, and the buttons to
 * approve or decline.
 *
 * @module
 */

import { useEffect, useState } from "preact/hooks";
import { type Challenge, usePage } from "../api.ts";
import { Copyable, CopyButton, Download } from "../copy.tsx";
import {
  Alert,
  Card,
  Facts,
  Fold,
  Preformatted,
  TextForm,
} from "../elements.tsx";
import { ApproveOrDecline, KeyChoice } from "../keys/key_choice.tsx";
import { hostOf, shortened, visibleText } from "../text.ts";
import { spokenTime } from "../time.tsx";
import {
  describeRequirements,
  permissionLabel,
  scopeLabel,
} from "./error_texts.ts";
import type { SignIn, SignInRequest } from "./use_sign_in.ts";

/** Without this scope an application learns nothing. */
const ALWAYS_GRANTED = "openid";

/** The card of an open request. */
export function RequestCard({ signIn, request, autoFocus }: {
  readonly signIn: SignIn;
  readonly request: SignInRequest;
  readonly autoFocus: boolean;
}) {
  const { config, keys } = usePage();
  const { challenge, client, text } = request;
  const { audience } = challenge;
  const [declined, setDeclined] = useState<ReadonlySet<string>>(new Set());
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
    <Card
      id="request"
      title={
        <>
          <strong>
            {client === undefined ? hostOf(audience) : visibleText(client)}
          </strong>{" "}
          asks you to sign in
        </>
      }
      titleId="asks"
      isAnswer
      autoFocus={autoFocus}
    >
      {client !== undefined && <p class="quiet">through {hostOf(audience)}</p>}
      {/* An honest site requests only its own. */}
      {audience !== location.origin && !audience.startsWith("did:") && (
        <Alert kind="warning">
          <p>
            Careful: this page is{" "}
            <code>{location.origin}</code>, and the request is for another site.
            Approve only if you know why.
          </p>
        </Alert>
      )}
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
              among={keys.all}
              value={keys.current?.did}
              onChoose={(did) => void keys.choose(did)}
            />
          ),
        }}
      />
      {text === undefined
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
            createsKey={keys.current === undefined}
            isBusy={signIn.busy}
            commandLine={commandLine}
            asksFirst
            onApprove={() =>
              signIn.approve(
                request,
                challenge.scopes.filter((each) => !declined.has(each)),
              )}
            onDecline={() => void signIn.decline()}
          >
            <TimeLeft of={request} onExpired={signIn.expire} />
          </ApproveOrDecline>
        )}
      <Fold id="details" title="Details">
        {text !== undefined && (
          <>
            <h3>The exact message</h3>
            <Preformatted class="message" value={text} />
          </>
        )}
        <Facts
          of={{
            Site: <code>{visibleText(audience)}</code>,
            Nonce: <code>{visibleText(challenge.nonce)}</code>,
            Request: <code>{visibleText(challenge.challenge_id)}</code>,
            Expires: spokenTime(challenge.expires_at, request.now()),
          }}
        />
        {text !== undefined && keys.missing === undefined && (
          <Fold title="Answer on the command line instead">
            {commandLine}
          </Fold>
        )}
      </Fold>
    </Card>
  );
}

const TICK_MS = 500;
/** When screen readers announce it, once. */
const LAST_CALL_SECONDS = 30;

/** Counts down with the server's clock. */
function TimeLeft({ of: { challenge: { expires_at }, now }, onExpired }: {
  readonly of: SignInRequest;
  readonly onExpired: () => void;
}) {
  const read = () => (Date.parse(expires_at) - now().getTime()) / 1000;
  const [seconds, setSeconds] = useState(read);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(read), TICK_MS);
    return () => clearInterval(timer);
  }, [expires_at]);
  useEffect(() => {
    if (seconds <= 0) onExpired();
  }, [seconds]);
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

const COMMAND = "sig attest --challenge challenge.json --key alice.jwk";

/** The three steps on the command line. */
export function CommandLineSteps({ challenge, onAnswer }: {
  readonly challenge: Challenge;
  readonly onAnswer: (attestation: string) => void;
}) {
  const text = `${JSON.stringify(challenge, null, 2)}\n`;
  return (
    <ol class="by-command">
      <li>
        <p>
          Save the request as <code>challenge.json</code>.
        </p>
        <div class="actions">
          <Download name="challenge.json" text={text} />
          <CopyButton text={() => text} what="the request as JSON" />
        </div>
      </li>
      <li>
        <p>
          Sign it with your key. To create one:{" "}
          <code>sig key generate --out alice.jwk</code>.
        </p>
        <Copyable visible={COMMAND} what="the command" />
      </li>
      <li>
        <TextForm
          id="attestation"
          label="Paste the output"
          rows={4}
          button={{ children: "Send the answer" }}
          isOff={(text) => text === ""}
          onText={(text) => onAnswer(text.replaceAll(/\s/g, ""))}
        />
      </li>
    </ol>
  );
}
