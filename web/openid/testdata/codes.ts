/** Codes to try, and how their refusal looks. */

import { assert, assertEquals } from "@std/assert";
import { Browser, type Posted, type TestProvider } from "./test_provider.ts";

/** A code of somebody who has just signed in at `app`. */
export async function newCode(
  provider: TestProvider,
  changes: Record<string, string> = {},
): Promise<{ code: string; browser: Browser; relationship: string }> {
  const { person, relationship } = await provider.employ();
  const browser = new Browser();
  const url = await provider.authorizeUrl(changes);
  const back = await browser.signIn(provider, person, url);
  assertEquals(back.searchParams.get("iss"), provider.origin);
  return { code: back.searchParams.get("code")!, browser, relationship };
}

/** A refusal as OAuth tells it, with nothing given. */
export function assertRefused(
  { status, body, headers }: Posted,
  expected: readonly [status: number, error: string],
): void {
  assertEquals([status, body.error], expected);
  assertEquals(headers.get("cache-control"), "no-store");
  assert(!JSON.stringify(body).includes("access_token"));
}
