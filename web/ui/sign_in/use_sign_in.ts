/** The state of a sign-in, from the request to its end. @module */

import { isSigError } from "@sig/core";
import { parseAttestation, validateSignableChallenge } from "@sig/jose";
import { useLayoutEffect, useState } from "preact/hooks";
import { attest, clockOf } from "../../browser/attest.ts";
import {
  type Challenge,
  type Interaction,
  type Login,
  type PageContext,
  Problem,
  request as ask,
  toProblem,
} from "../api.ts";

/** Problems after which the same request can't be answered again. */
const FINAL = new Set([
  "challenge_burned",
  "challenge_expired",
  "challenge_not_found",
  "challenge_used",
  "relationship_denied",
]);

/** An open request. */
export interface SignInRequest {
  readonly challenge: Challenge;
  /** The requesting application, unless it is this server itself. */
  readonly client: string | undefined;
  /** The text that would be signed; undefined if it must not be signed. */
  readonly text: string | undefined;
  /** Why it must not be signed. */
  readonly fault: string;
  /** Returns the server's time. */
  readonly now: () => Date;
}

/** The state of a sign-in. */
export type SignInState =
  | { readonly at: "loading" | "leaving" | "declined" }
  | { readonly at: "request"; readonly expired: boolean }
  | { readonly at: "done"; readonly login: Login }
  | {
    readonly at: "refused";
    readonly problem: Problem;
    /** The signer's DID, as claimed in the answer. */
    readonly subject: string | undefined;
    /** Whether the same request may be answered again. */
    readonly canRetry: boolean;
  };

/** A sign-in with its state and actions. */
export type SignIn = ReturnType<typeof useSignIn>;

/**
 * Requests a challenge when the view opens, and again when the interaction
 * changes.
 *
 * @param interaction The waiting application's interaction (OpenID Connect).
 */
export function useSignIn(
  { config, keys }: PageContext,
  interaction?: string,
  onEnd?: (end: Login | Problem) => void,
) {
  const [request, setRequest] = useState<SignInRequest | undefined>();
  const [state, setState] = useState<SignInState>({ at: "loading" });
  const [busy, setBusy] = useState(false);
  const [starts, setStarts] = useState(0);
  const { challengeUrl, answerUrl } = config.signIn;
  const interactionUrl = `/oidc/interaction/${
    encodeURIComponent(interaction ?? "")
  }`;

  /** Runs the work unless other work is in progress. */
  async function act(
    work: () => Promise<void>,
    subject?: () => string | undefined,
  ) {
    if (busy) return;
    setBusy(true);
    try {
      await work();
    } catch (error) {
      refuse(error, subject?.());
    } finally {
      setBusy(false);
    }
  }

  async function getRequest(): Promise<SignInRequest> {
    if (interaction === undefined) {
      const { scopes } = config;
      return readRequest(await ask<Challenge>(challengeUrl, { scopes }));
    }
    const { challenge, client } = await ask<Interaction>(interactionUrl);
    return readRequest(challenge, client.client_name || client.client_id);
  }

  async function deliver(attestation: string): Promise<void> {
    if (interaction !== undefined) {
      leave(await ask(interactionUrl, { attestation }));
      return;
    }
    const login = await ask<Login>(answerUrl, { attestation });
    if (config.signIn.returns) leave({ redirect_to: placeAfterSignIn() });
    else setState({ at: "done", login });
    onEnd?.(login);
  }

  function leave({ redirect_to }: { readonly redirect_to?: unknown }): void {
    if (!isPlace(redirect_to)) {
      throw new Problem(
        "no_answer",
        "The server did not say where to go next. Go back to the application.",
      );
    }
    setState({ at: "leaving" });
    location.assign(redirect_to);
  }

  function refuse(error: unknown, subject?: string, wasAsked = true): void {
    const problem = toProblem(error);
    const canRetry = wasAsked && !FINAL.has(problem.code);
    setState({ at: "refused", problem, subject, canRetry });
    onEnd?.(problem);
  }

  // A layout effect, which runs before the first paint.
  useLayoutEffect(() => {
    let isGone = false;
    setBusy(true);
    const end = (read: SignInRequest | undefined, error?: unknown) => {
      if (isGone) return;
      setRequest(read);
      if (read) setState({ at: "request", expired: false });
      else refuse(error, undefined, false);
      setBusy(false);
    };
    getRequest().then(end, (error) => end(undefined, error));
    return () => void (isGone = true);
  }, [interaction, starts]);

  return {
    request,
    state,
    busy,
    /** Requests a new challenge. */
    start: () => setStarts((before) => before + 1),
    /** Signs with this browser's key; creates one if there is none. */
    async approve(scopes: readonly string[]) {
      if (request === undefined) return;
      let attestation: string | undefined;
      const { challenge, now } = request;
      await act(async () => {
        const key = keys.current ?? await keys.create();
        attestation = await attest(challenge, key, scopes, now);
        await deliver(attestation);
      }, () => attestation && subjectOf(attestation));
    },
    /** Sends an answer that was signed elsewhere. */
    send: (attestation: string) =>
      act(() => deliver(attestation), () => subjectOf(attestation)),
    async decline() {
      await act(async () => {
        if (interaction === undefined) setState({ at: "declined" });
        else leave(await ask(interactionUrl, { declined: true }));
      });
    },
    expire() {
      setState((now) => now.at === "request" ? { ...now, expired: true } : now);
    },
  };
}

/** The message of the server is compared, never shown. */
function readRequest(challenge: Challenge, client?: string): SignInRequest {
  const common = { challenge, client, now: clockOf(challenge) };
  try {
    const { text } = validateSignableChallenge(challenge);
    return { ...common, text, fault: "" };
  } catch (error) {
    if (!isSigError(error)) throw error;
    return { ...common, text: undefined, fault: error.message };
  }
}

/** Schemes whose URLs are executed or displayed instead of visited. */
const NO_PLACE = new Set(["javascript:", "data:", "blob:", "vbscript:"]);

function isPlace(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const url = URL.parse(value);
  return url !== null && !NO_PLACE.has(url.protocol);
}

/** Returns the path to continue at after a sign-in; never another origin. */
function placeAfterSignIn(): string {
  const rd = new URLSearchParams(location.search).get("rd") ?? "/";
  const url = URL.parse(rd, location.href);
  return url?.origin === location.origin ? url.href : `${location.origin}/`;
}

/** Returns the signer's DID as claimed in an attestation. */
function subjectOf(attestation: string): string | undefined {
  try {
    return parseAttestation(attestation).subject;
  } catch {
    return undefined;
  }
}
