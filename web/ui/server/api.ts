/** Speaking with the server. @module */

import { isRecord } from "../parts/text.ts";
import type { Challenge, Interaction, Login } from "./config.ts";
import { Problem } from "./problem.ts";

/** One request and what came of it, for the developers' log. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly sent: unknown;
  /** 0 when there was no answer. */
  readonly status: number;
  readonly received: unknown;
}

/** What a challenge is asked for with. */
export interface Wanted {
  readonly audience?: string;
  readonly scopes: readonly string[];
  readonly subject?: string;
  readonly ttl_seconds?: number;
}

/** What was appended to the demo's feed. */
export interface Appended {
  readonly relationship_id: string;
  readonly sequence: number;
}

/** What the server offers this page. */
export type Api = ReturnType<typeof createApi>;

/** Every method throws a {@linkcode Problem} for what is no success. */
export function createApi(onExchange: (exchange: Exchange) => void) {
  async function call<T>(
    method: "GET" | "POST",
    path: string,
    sent?: unknown,
    { note = onExchange } = {},
  ): Promise<T> {
    let response: Response;
    try {
      response = await fetch(path, {
        method,
        cache: "no-store",
        redirect: "error",
        ...(sent === undefined ? {} : {
          headers: { "content-type": "application/json" },
          body: JSON.stringify(sent),
        }),
      });
    } catch {
      note({ method, path, sent, status: 0, received: null });
      throw new Problem("no_answer", "The server did not answer.");
    }
    const received = parse(await response.text().catch(() => ""));
    note({ method, path, sent, status: response.status, received });
    if (response.ok && received !== undefined) return received as T;
    const body = isRecord(received) ? received : {};
    throw new Problem(
      typeof body.code === "string" ? body.code : "no_answer",
      typeof body.detail === "string"
        ? body.detail
        : `The server answered with status ${response.status}.`,
      body,
    );
  }
  const interaction = (id: string) =>
    `/oidc/interaction/${encodeURIComponent(id)}`;

  return {
    createChallenge: (wanted: Wanted) =>
      call<Challenge>("POST", "/v1/auth/challenge/create", wanted),
    verifyAttestation: (attestation: string) =>
      call<Login>("POST", "/v1/auth/attestation/verify", { attestation }),
    readInteraction: (id: string) => call<Interaction>("GET", interaction(id)),
    finishInteraction: (
      id: string,
      answer: { attestation: string } | { declined: true },
    ) => call<{ redirect_to: string }>("POST", interaction(id), answer),
    enrol: (person: { subject: string; name?: string }) =>
      call<Appended>("POST", "/demo/enrol", person),
    /** Asked each second: developers' log would hold nothing else. */
    openApps: (subject: string) =>
      call<{ open: readonly unknown[] }>(
        ...[
          "GET",
          `/demo/apps?subject=${encodeURIComponent(subject)}`,
        ] as const,
        undefined,
        { note() {} },
      ),
    revoke: (relationshipId: string) =>
      call<Appended>("POST", "/demo/revoke", {
        relationship_id: relationshipId,
      }),
  };
}

/** Undefined for what is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
