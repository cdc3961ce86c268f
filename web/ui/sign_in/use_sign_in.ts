/** The state of a sign-in, from the request to its end. @module */

import { isSigError } from "@sig/core";
import { parseAttestation, validateSignableChallenge } from "@sig/jose";
import { useState } from "preact/hooks";
import { attest, clockOf } from "../../browser/attest.ts";
import {
  type Challenge,
  type Login,
  Problem,
  request as ask,
  toProblem,
  useLoading,
  usePage,
} from "../api.ts";

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
  | { readonly at: "loading" | "request" | "expired" | "leaving" | "declined" }
  | { readonly at: "done"; readonly login: Login }
  | {
    readonly at: "refused";
    readonly problem: Problem;
    /** The signer's DID, as claimed in the answer. */
    readonly subject: string | undefined;
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
  interaction?: string,
  onEnd?: (end: Login | Problem) => void,
) {
  const { config, keys } = usePage();
  const { challengeUrl, answerUrl, returns } = config.signIn;
  const [request, setRequest] = useState<SignInRequest | undefined>();
  const [state, setState] = useState<SignInState>({ at: "loading" });
  const [busy, setBusy] = useState(false);
  const [starts, setStarts] = useState(0);
  const interactionUrl = `/oidc/interaction/${
    encodeURIComponent(interaction ?? "")
  }`;

  async function getRequest(): Promise<SignInRequest> {
    if (interaction === undefined) {
      const { scopes } = config;
      return readRequest(await ask<Challenge>(challengeUrl, { scopes }));
    }
    const { challenge, client } = await ask<{
      readonly challenge: Challenge;
      readonly client: Record<"client_id" | "client_name", string>;
    }>(interactionUrl);
    return readRequest(challenge, client.client_name || client.client_id);
  }

  /** Runs the work unless other work is in progress. */
  async function act(work: () => Promise<void>, subject?: () => string) {
    if (busy) return;
    setBusy(true);
    try {
      await work();
    } catch (error) {
      refuse(error, subject?.());
    }
    setBusy(false);
  }

  /** Sends an answer, which this browser or another program signs. */
  async function answer(sign: () => string | Promise<string>) {
    let attestation = "";
    await act(async () => {
      attestation = await sign();
      if (interaction !== undefined) {
        return leave(await ask(interactionUrl, { attestation }));
      }
      const login = await ask<Login>(answerUrl, { attestation });
      if (returns) leave({ redirect_to: placeAfterSignIn(location.href) });
      else setState({ at: "done", login });
      onEnd?.(login);
    }, () => attestation);
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

  function refuse(error: unknown, attestation = ""): void {
    const problem = toProblem(error);
    const subject = subjectOf(attestation);
    setState({ at: "refused", problem, subject });
    onEnd?.(problem);
  }

  useLoading(
    () => {
      setBusy(true);
      return getRequest().catch((error) => ({ error }));
    },
    (read) => {
      const isRequest = "challenge" in read;
      setRequest(isRequest ? read : undefined);
      if (isRequest) setState({ at: "request" });
      else refuse(read.error);
      setBusy(false);
    },
    [interaction, starts],
  );

  return {
    request,
    state,
    busy,
    /** Requests a new challenge. */
    start: () => setStarts((before) => before + 1),
    /** Signs with this browser's key; creates one if there is none. */
    async approve(
      { challenge, now }: SignInRequest,
      scopes: readonly string[],
    ) {
      await answer(async () => {
        const key = keys.current ?? await keys.create();
        return await attest(challenge, key, scopes, now);
      });
    },
    /** Sends an answer that was signed elsewhere. */
    send: (attestation: string) => answer(() => attestation),
    decline: () =>
      act(async () => {
        if (interaction === undefined) setState({ at: "declined" });
        else leave(await ask(interactionUrl, { declined: true }));
      }),
    expire() {
      setState((now) => now.at === "request" ? { at: "expired" } : now);
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
  const url = typeof value === "string" ? URL.parse(value) : null;
  return url !== null && !NO_PLACE.has(url.protocol);
}

/**
 * Returns where to continue after a sign-in, by `?rd=` of the page's URL; never
 * another origin.
 */
export function placeAfterSignIn(page: string): string {
  const { searchParams, origin } = new URL(page);
  const url = URL.parse(searchParams.get("rd") ?? "/", page);
  return url?.origin === origin ? url.href : `${origin}/`;
}

/** Returns the signer's DID as claimed in an attestation. */
function subjectOf(attestation: string): string | undefined {
  try {
    return parseAttestation(attestation).subject;
  } catch {
    return undefined;
  }
}
