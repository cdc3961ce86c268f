/** One login, from the page of an application. @module */

import {
  ERROR_CODES,
  type ErrorCode,
  type JsonValue,
  SigError,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import {
  type AttestationPreview,
  previewAttestation,
  type SignableChallenge,
} from "@sig/jose";
import { attest, clockOf, signingKeyOf } from "./attest.ts";
import { type BrowserKey, createKey, loadKey } from "./key_store.ts";

/** What a person is asked before anything is signed. */
export interface SignInRequest extends AttestationPreview {
  /** The key that would sign. */
  readonly key: BrowserKey;
}

/** Options of {@linkcode signIn}. */
export interface SignInOptions {
  /** Where challenges are created (default: `/v1/auth/challenge/create`). */
  readonly challengeUrl?: string | URL;
  /** Where answers are sent (default: `/v1/auth/attestation/verify`). */
  readonly answerUrl?: string | URL;
  /**
   * The audience that a challenge must have (default: the origin of
   * `challengeUrl`). A challenge for another site would be used there.
   */
  readonly audience?: string;
  /** The scopes to request and grant (default: none). */
  readonly scopes?: readonly string[];
  /** The key that signs (default: the newest of this browser, created if missing). */
  readonly key?: BrowserKey;
  /** Asks the person (default: signs without asking). */
  readonly confirm?: (request: SignInRequest) => boolean | Promise<boolean>;
  /** Sends requests (default: the browser's `fetch`). */
  readonly fetch?: typeof fetch;
}

/** What the server said of the login: that of `@sig/web` as docs/reference/http.md says. */
export interface SignedIn {
  /** Who signed. */
  readonly key: BrowserKey;
  /** The server's answer. */
  readonly login: JsonValue;
}

/**
 * Gets a challenge, signs it with a key of this browser, and brings the answer.
 * What is shown to the person comes from the members that get signed; a
 * challenge for another site is refused.
 *
 * @example In a page of an application that mounts `sigLogin`
 * ```ts ignore
 * import { signIn } from "@sig/web/browser";
 *
 * const done = await signIn({
 *   challengeUrl: "/sig/challenge",
 *   answerUrl: "/sig/session",
 *   confirm: ({ audience }) => confirm(`Sign in to ${audience}?`),
 * });
 * if (done !== undefined) location.reload();
 * ```
 *
 * @returns undefined when the person declined.
 * @throws {SigError} what the server refused with, such as `relationship_denied`;
 * `audience_mismatch`; `invalid_field` and the like for a challenge that must not
 * be signed; `fetch_failed`, `fetch_status`.
 */
export async function signIn(
  options: SignInOptions = {},
): Promise<SignedIn | undefined> {
  const fetcher = options.fetch ?? ((input, init) => fetch(input, init));
  const [challengeUrl, answerUrl] = [
    options.challengeUrl ?? "/v1/auth/challenge/create",
    options.answerUrl ?? "/v1/auth/attestation/verify",
  ].map((url) => new URL(url, globalThis.location?.href)) as [URL, URL];
  const { scopes = [] } = options;
  const challenge = readChallenge(
    await postJson(challengeUrl, { scopes }, fetcher),
    options.audience ?? challengeUrl.origin,
  );
  const now = clockOf(challenge);
  const key = options.key ?? await loadKey() ?? await createKey();
  const preview = previewAttestation({
    challenge,
    key: signingKeyOf(key),
    now,
  });
  if (options.confirm && !await options.confirm({ ...preview, key })) {
    return undefined;
  }
  const attestation = await attest(challenge, key, undefined, now);
  return { key, login: await postJson(answerUrl, { attestation }, fetcher) };
}

function readChallenge(
  value: JsonValue,
  audience: string,
): SignableChallenge & { readonly issued_at: string } {
  const { audience: named, issued_at } = isObject(value) ? value : {};
  if (named !== audience) {
    throw new SigError(
      "audience_mismatch",
      "Cannot sign in: the challenge is for another site",
      { context: { hint: "Tell signIn the audience if it is meant." } },
    );
  }
  // The rest is judged by what signs it.
  return {
    ...value as unknown as SignableChallenge,
    issued_at: String(issued_at),
  };
}

/**
 * Posts JSON, and reads JSON.
 *
 * @throws {SigError} what the server refused with; `fetch_failed` when it can't
 * be reached, `fetch_status` for an answer that is neither.
 */
async function postJson(
  url: URL,
  body: unknown,
  fetcher: typeof fetch,
): Promise<JsonValue> {
  let response: Response;
  let value: JsonValue | undefined;
  try {
    response = await fetcher(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch (cause) {
    throw new SigError(
      "fetch_failed",
      "Cannot sign in: the server does not answer",
      {
        cause,
      },
    );
  }
  try {
    value = await response.json();
  } catch {
    // Reported below: not an answer of our server.
  }
  if (response.ok && value !== undefined) return value;
  const { code, detail } = isObject(value) ? value : {};
  if (typeof code === "string" && Object.hasOwn(ERROR_CODES, code)) {
    throw new SigError(code as ErrorCode, `Cannot sign in: ${detail ?? code}`, {
      context: contextOf(value),
    });
  }
  throw new SigError(
    "fetch_status",
    `Cannot sign in: the server answered ${response.status}`,
    { context: { status: response.status } },
  );
}

/** What a problem says beyond its own members (RFC 9457). */
function contextOf(problem: JsonValue | undefined): Record<string, JsonValue> {
  if (!isObject(problem)) return {};
  const { type: _t, title: _i, status: _s, detail: _d, code: _c, ...rest } =
    problem as Record<string, JsonValue>;
  return rest;
}
