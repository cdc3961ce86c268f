/** Fresh codes, and an assertion for rejected requests. */

import { assert, assertEquals } from "@std/assert";
import { Browser, type Posted, type TestProvider } from "./test_provider.ts";

/** Signs a new person in at `app` and returns the code. */
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

/** Asserts an OAuth error without tokens. */
export function assertRefused(
  { status, body, headers }: Posted,
  expected: readonly [status: number, error: string],
): void {
  assertEquals([status, body.error], expected);
  assertEquals(headers.get("cache-control"), "no-store");
  assert(!JSON.stringify(body).includes("access_token"));
}
