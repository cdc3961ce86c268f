/** Sending a person to the page that asks them to sign. @module */

import type { Exchange } from "@sig/api/http";
import { digestOf } from "../login/digest.ts";
import { randomText } from "../sessions/sessions.ts";
import { type Interaction, INTERACTION_LIFE_MS } from "./interaction_record.ts";
import { sendTo } from "./pages.ts";
import type { ProviderContext } from "./provider_context.ts";

const BROWSER_BYTES = 32;
const ID_BYTES = 24;

/** The keys of each part of a union. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/**
 * Keeps what waits, and sends the browser to the page: in this browser, which a
 * cookie names, and in no other.
 *
 * @throws {SigError} `store_unavailable`, `rate_limited`.
 */
export async function beginInteraction(
  exchange: Exchange,
  { browserCookie, interactions, issuer, now }: Pick<
    ProviderContext,
    "browserCookie" | "interactions" | "issuer" | "now"
  >,
  waiting: Without<Interaction, "browser_sha256">,
): Promise<Response> {
  const given = browserCookie.read(exchange.request.headers);
  const browser = given !== undefined && /^[A-Za-z0-9_-]{43}$/.test(given)
    ? given
    : randomText(BROWSER_BYTES);
  const at = now();
  const id = randomText(ID_BYTES);
  await interactions.create(
    id,
    { ...waiting, browser_sha256: await digestOf(browser) },
    new Date(at.getTime() + INTERACTION_LIFE_MS),
    at,
  );
  return sendTo(exchange, `${issuer}/#/sign-in/${id}`, [
    browserCookie.set(browser, INTERACTION_LIFE_MS / 1000),
  ]);
}
