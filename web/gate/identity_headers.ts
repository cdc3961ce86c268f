/** What an application behind a proxy is told of a person. @module */

import type { Standing } from "../login/login_gate.ts";
import { groupsOf, type NameOf, shownNameOf } from "../openid/claims.ts";

/** Every header that says who it is; proxies remove what others sent as one. */
export const IDENTITY_HEADERS: readonly string[] = Object.freeze([
  ...["Remote-User", "Remote-Groups", "Remote-Name"],
]);

/** The headers that say who it is: the DID, groups with commas, a name. */
export async function identityHeaders(
  { subject, standing }: {
    readonly subject: string;
    readonly standing: Standing;
  },
  nameOf: NameOf | undefined,
): Promise<readonly (readonly [string, string])[]> {
  return [
    ["remote-user", subject],
    ["remote-groups", asHeader(groupsOf(standing).join(","))],
    ["remote-name", asHeader(await shownNameOf(subject, nameOf))],
  ];
}

/** The bytes of its UTF-8, each as a character: what a header holds. */
function asHeader(text: string): string {
  // deno-lint-ignore no-control-regex -- they are what must go
  const bytes = new TextEncoder().encode(text.replace(/[\x00-\x1f\x7f]/g, " "));
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("").trim();
}
