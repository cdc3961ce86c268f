/** What all views share: the configuration, keys, errors and requests. @module */
/// <reference lib="dom" />

import { isSigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { DescribedChallenge } from "@sig/jose";
import { createContext } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { PasskeyError } from "../browser/passkey.ts";
import type { Keys } from "./keys/use_keys.ts";
import type { PageConfig } from "./page_config.ts";

/** What every view may use. */
interface PageContext {
  readonly config: PageConfig;
  readonly keys: Keys;
}

/** Provides the configuration and the keys. */
export const Page = createContext({} as PageContext);

/** Returns the configuration and the keys. */
export function usePage(): PageContext {
  return useContext(Page);
}

/** A request to sign in (docs/protocol.md §7). */
export interface Challenge extends DescribedChallenge {
  readonly message: string;
}

/** What the page shows of a successful sign-in. */
export interface Login {
  readonly subject: string;
  readonly audience: string;
  readonly scopes: readonly string[];
  readonly verified_at: string;
  readonly relationship: Readonly<Record<string, unknown>> | null;
}

/** An error whose message is shown to people. */
export class ShownError extends Error {}

/** The server's problem details (RFC 9457), or the page's own error. */
export class Problem extends ShownError {
  /** What to do next, if the server says so. */
  readonly hint: string;

  /**
   * @param code The stable code; `no_answer` and `sign_failed` are this page's
   * own.
   * @param body All members of the problem.
   */
  constructor(
    readonly code: string,
    detail: string,
    readonly body: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
    this.hint = typeof body.hint === "string" ? body.hint : "";
  }
}

/** Converts an error during a sign-in to a problem. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return isSigError(error)
    ? new Problem(error.code, error.message, { ...error.context })
    : new Problem(
      "sign_failed",
      "This browser did not sign. Reload the page and try again.",
    );
}

const PASSKEY_TEXTS = {
  cancelled: "No passkey was used. Try again, or create one.",
  no_prf:
    "This passkey can’t provide your key: its device or password manager lacks PRF. Delete it there, and use a key of this browser.",
} as const;

/** Returns the text for people about an error, by default `otherwise`. */
export function errorText(error: unknown, otherwise: string): string {
  if (error instanceof PasskeyError) return PASSKEY_TEXTS[error.why];
  return error instanceof ShownError ? error.message : otherwise;
}

/**
 * Returns a function that runs work, whether work is in progress, and the text
 * about the last failure, or "".
 *
 * @param otherwise The text about an error that says nothing to people.
 */
export function useWork(otherwise: string) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setError("");
    try {
      await work();
    } catch (error) {
      setError(errorText(error, otherwise));
    }
    setBusy(false);
  };
  return { busy, error, run };
}

/**
 * Loads before the first paint, and again when `causes` change; what comes too
 * late for them is ignored.
 */
export function useLoading<T>(
  load: () => Promise<T>,
  show: (loaded: T) => void,
  causes: readonly unknown[],
): void {
  useLayoutEffect(() => {
    let isCurrent = true;
    void load().then((loaded) => isCurrent && show(loaded));
    return () => void (isCurrent = false);
  }, causes);
}

/**
 * Sends a request to the server.
 *
 * @throws {Problem} for every response that is not a success.
 */
export async function request<T>(path: string, sent?: unknown): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: sent === undefined ? "GET" : "POST",
      cache: "no-store",
      redirect: "error",
      ...(sent === undefined ? {} : {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(sent),
      }),
    });
  } catch {
    throw new Problem("no_answer", "The server did not answer.");
  }
  const received: unknown = await response.json().catch(() => undefined);
  if (response.ok && received !== undefined) return received as T;
  const body = isObject(received) ? received : {};
  throw new Problem(
    typeof body.code === "string" ? body.code : "no_answer",
    typeof body.detail === "string"
      ? body.detail
      : `The server answered with status ${response.status}.`,
    body,
  );
}
