/** Runs a login from the page of an application. @module */

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

/** The request shown to the person before signing. */
export interface SignInRequest extends AttestationPreview {
  /** The key that would sign. */
  readonly key: BrowserKey;
}

/** Options of {@linkcode signIn}. */
export interface SignInOptions {
  /** Where challenges are created (default: `/v1/auth/challenge/create`). */
  readonly challengeUrl?: string | URL;
  /**
   * The URL to which attestations are sent (default:
   * `/v1/auth/attestation/verify`).
   */
  readonly answerUrl?: string | URL;
  /**
   * The audience that a challenge must have (default: the origin of
   * `challengeUrl`). Prevents signing a challenge for another site, which could
   * use it there.
   */
  readonly audience?: string;
  /** The scopes to request and grant (default: none). */
  readonly scopes?: readonly string[];
  /**
   * The key that signs (default: the newest key of this browser; created if
   * there is none).
   */
  readonly key?: BrowserKey;
  /** Asks the person for approval (default: signs without asking). */
  readonly confirm?: (request: SignInRequest) => boolean | Promise<boolean>;
  /** Sends requests (default: the browser's `fetch`). */
  readonly fetch?: typeof fetch;
}

/** A completed login. */
export interface SignedIn {
  /** The key that signed. */
  readonly key: BrowserKey;
  /** The server's response; that of `@sig/web` is in docs/reference/http.md. */
  readonly login: JsonValue;
}

/**
 * Fetches a challenge, signs it with a key of this browser, and returns the
 * server's response. The person sees the members that are signed; a challenge
 * for another site is rejected.
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
 * @returns undefined if the person declined.
 * @throws {SigError} the server's error, such as `relationship_denied`;
 * `audience_mismatch`; `invalid_field` and the like for a challenge that must
 * not be signed; `fetch_failed`, `fetch_status`.
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
    throw new SigError("audience_mismatch", {
      action: "sign in",
      reason: "the challenge is for another site",
      context: { hint: "Set the option audience if that site is intended." },
    });
  }
  // The remaining members are checked by the signing function.
  return {
    ...value as unknown as SignableChallenge,
    issued_at: String(issued_at),
  };
}

/**
 * Posts JSON and returns the JSON response.
 *
 * @throws {SigError} the server's error; `fetch_failed` if it is unreachable,
 * `fetch_status` for a response that is neither a success nor a problem.
 */
async function postJson(
  url: URL,
  body: unknown,
  fetcher: typeof fetch,
): Promise<JsonValue> {
  let response: Response;
  try {
    response = await fetcher(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch (cause) {
    throw new SigError("fetch_failed", {
      action: "sign in",
      reason: "the server does not answer",
      cause,
    });
  }
  const value: JsonValue | undefined = await response.json()
    .catch(() => undefined);
  if (response.ok && value !== undefined) return value;
  // The other members of a problem (RFC 9457) are the error's context.
  const { type: _t, title: _i, status: _s, detail, code, ...context } =
    isObject(value) ? value as Record<string, JsonValue> : {};
  if (typeof code === "string" && Object.hasOwn(ERROR_CODES, code)) {
    throw new SigError(code as ErrorCode, {
      action: "sign in",
      reason: String(detail ?? code),
      context,
    });
  }
  throw new SigError("fetch_status", {
    action: "sign in",
    reason: `the server answered ${response.status}`,
    context: { status: response.status },
  });
}
