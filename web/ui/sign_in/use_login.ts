/**
 * One login from its request to its end. What a request becomes is decided
 * here; how it looks, in the card.
 *
 * @module
 */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { attest, type BrowserKey, clockOf } from "../libraries/login.ts";
import { isRecord } from "../parts/text.ts";
import type { Site } from "../site/site.ts";
import type { Wanted } from "../server/api.ts";
import type { Challenge, Login } from "../server/config.ts";
import { Problem, toProblem } from "../server/problem.ts";
import {
  decodeAttestation,
  type ReadRequest,
  readRequest,
} from "./attestation.ts";

/** Refusals after which the request has no use. */
const OVER = new Set([
  "challenge_burned",
  "challenge_expired",
  "challenge_not_found",
  "challenge_used",
  "relationship_denied",
]);

/** A request that waits for an answer. */
export interface Asked {
  readonly challenge: Challenge;
  /** Who asks, where it is an application behind this server. */
  readonly client: string | undefined;
  /** It in words, or why it must not be signed. */
  readonly read: ReadRequest;
  /** The server's clock. */
  readonly now: () => Date;
}

/** Where a login stands. */
export type Stage =
  | { readonly at: "start" }
  | { readonly at: "asked"; readonly expired: boolean }
  | { readonly at: "in"; readonly login: Login }
  | { readonly at: "leaving" }
  | { readonly at: "declined" }
  | {
    readonly at: "refused";
    readonly problem: Problem;
    /** Who is refused, by the answer's own words. */
    readonly subject: string | undefined;
    /** Whether the same request may be answered again. */
    readonly lasts: boolean;
  };

/** What a card is given. */
export interface LoginFlow {
  readonly asked: Asked | undefined;
  readonly stage: Stage;
  readonly busy: boolean;
  /** Gets a request. */
  start(): Promise<void>;
  /** Signs with this browser's key, making it first where there is none. */
  approve(scopes: readonly string[]): Promise<void>;
  /** Sends what was signed elsewhere. */
  send(attestation: string): Promise<void>;
  decline(): Promise<void>;
  expire(): void;
}

/** Where a request comes from, and what is told of its end. */
export interface LoginOptions {
  /** Of an application that waits (OpenID Connect), else this server's own. */
  readonly interaction?: string | undefined;
  /** What this server's own request asks for. */
  readonly wanted?: Wanted;
  readonly onOutcome?: (outcome: Login | Problem) => void;
}

/** Begins at once, and again when another interaction is named. */
export function useLogin(site: Site, options: LoginOptions): LoginFlow {
  const { api, config, keys } = site;
  const { interaction, wanted, onOutcome } = options;
  const [asked, setAsked] = useState<Asked | undefined>();
  const [stage, setStage] = useState<Stage>({ at: "start" });
  const [busy, setBusy] = useState(false);
  /** Of several starts only the last one counts. */
  const newest = useRef(0);

  async function start(): Promise<void> {
    const number = ++newest.current;
    setBusy(true);
    try {
      const { challenge, client } = await getRequest();
      if (number !== newest.current) return;
      setAsked({
        challenge,
        client,
        read: readRequest(challenge),
        now: clockOf(challenge),
      });
      setStage({ at: "asked", expired: false });
    } catch (error) {
      if (number !== newest.current) return;
      setAsked(undefined);
      refuse(error, false);
    } finally {
      if (number === newest.current) setBusy(false);
    }
  }

  async function getRequest() {
    if (interaction === undefined) {
      const challenge = await api.createChallenge(
        wanted ?? { scopes: config.scopes },
      );
      return { challenge, client: undefined };
    }
    const { challenge, client } = await api.readInteraction(interaction);
    return { challenge, client: client.client_name || client.client_id };
  }

  async function approve(scopes: readonly string[]): Promise<void> {
    if (asked === undefined || busy) return;
    setBusy(true);
    let key: BrowserKey;
    let attestation: string;
    try {
      key = keys.current ?? await keys.create();
      attestation = await attest(asked.challenge, key, scopes, asked.now);
    } catch (error) {
      setBusy(false);
      refuse(error, true);
      return;
    }
    await deliver(attestation);
  }

  async function send(attestation: string): Promise<void> {
    if (busy) return;
    setBusy(true);
    await deliver(attestation);
  }

  async function deliver(attestation: string): Promise<void> {
    try {
      if (interaction === undefined) {
        const login = await api.verifyAttestation(attestation);
        setStage({ at: "in", login });
        onOutcome?.(login);
      } else {
        leave(await api.finishInteraction(interaction, { attestation }));
      }
    } catch (error) {
      refuse(error, true, subjectOf(attestation));
    } finally {
      setBusy(false);
    }
  }

  async function decline(): Promise<void> {
    if (interaction === undefined) {
      setStage({ at: "declined" });
      return;
    }
    setBusy(true);
    try {
      leave(await api.finishInteraction(interaction, { declined: true }));
    } catch (error) {
      refuse(error, true);
    } finally {
      setBusy(false);
    }
  }

  function leave({ redirect_to }: { readonly redirect_to: unknown }): void {
    if (!isPlace(redirect_to)) {
      throw new Problem(
        "no_answer",
        "The server did not say where to go on. Go back to the application.",
      );
    }
    setStage({ at: "leaving" });
    location.assign(redirect_to);
  }

  function refuse(error: unknown, wasAsked: boolean, subject?: string): void {
    const problem = toProblem(error);
    const lasts = wasAsked && !OVER.has(problem.code);
    setStage({ at: "refused", problem, subject, lasts });
    onOutcome?.(problem);
  }

  // Asked for at once, not after the first picture.
  useLayoutEffect(() => {
    void start();
    return () => {
      newest.current++;
    };
  }, [interaction]);

  return {
    asked,
    stage,
    busy,
    start,
    approve,
    send,
    decline,
    expire() {
      setStage((now) =>
        now.at === "asked" ? { at: "asked", expired: true } : now
      );
    },
  };
}

/** Schemes whose addresses would be run or read instead of gone to. */
const NO_PLACE = new Set(["javascript:", "data:", "blob:", "vbscript:"]);

function isPlace(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const url = URL.parse(value);
  return url !== null && !NO_PLACE.has(url.protocol);
}

/** Who an attestation is of, by its own words. */
function subjectOf(attestation: string): string | undefined {
  const claims = decodeAttestation(attestation)?.claims;
  return isRecord(claims) && typeof claims.sub === "string" && claims.sub !== ""
    ? claims.sub
    : undefined;
}
