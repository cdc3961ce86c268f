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
    [
      "remote-groups",
      asHeader(groupsOf(standing).filter(arrivesWhole).join(",")),
    ],
    ["remote-name", asHeader(await shownNameOf(subject, nameOf))],
  ];
}

// deno-lint-ignore no-control-regex -- they are what must go
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/**
 * Whether a group arrives as it is: one that lost a space or a control character
 * on its way would be another group.
 */
function arrivesWhole(group: string): boolean {
  return group === group.trim() && group.isWellFormed() &&
    !CONTROL.test(group);
}

/** Printable ASCII that neither begins nor ends with a space. */
const PLAIN = /^[!-~]+(?: +[!-~]+)*$/;

/** The bytes of its UTF-8, each as a character: what a header holds. */
function asHeader(text: string): string {
  if (PLAIN.test(text)) return text;
  // Trimmed before: a byte of a letter may look like a space.
  const shown = text.replaceAll(new RegExp(CONTROL, "g"), " ").trim();
  const bytes = new TextEncoder().encode(shown);
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
