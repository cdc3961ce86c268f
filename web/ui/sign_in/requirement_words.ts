/** What is required and granted, in words for people. @module */

import { being } from "../feed/names.ts";
import { hostOf, shown } from "../parts/text.ts";

/**
 * What a person must be, such as "employee of acme.example with the role
 * deploy"; undefined where nothing is required.
 */
export function mustBe(
  require: unknown,
  issuer: string | null,
): string | undefined {
  const list = require === null || require === undefined
    ? []
    : Array.isArray(require)
    ? require.map((each) => typeof each === "string" ? each : shown(each))
    : [shown(require)];
  if (list.length === 0) return undefined;
  const of = issuer === null ? "" : ` of ${hostOf(issuer)}`;
  const types = valuesOf(list, "relationship").map(being);
  const known = types.length > 0 ? types.join(" and ") : "someone";
  const roles = valuesOf(list, "role");
  const ids = valuesOf(list, "relationship_id");
  const others = list.filter((each) =>
    !/^(relationship|role|relationship_id)=/.test(each)
  );
  return [
    `${known}${of}`,
    roles.length === 0
      ? ""
      : `with the ${roles.length === 1 ? "role" : "roles"} ${
        roles.join(" and ")
      }`,
    ids.length === 0 ? "" : `by the relationship ${ids.join(" and ")}`,
    others.length === 0 ? "" : `and ${others.join(" and ")}`,
  ].filter(Boolean).map((part) => shown(part)).join(" ");
}

function valuesOf(list: readonly string[], key: string): string[] {
  return list.filter((each) => each.startsWith(`${key}=`))
    .map((each) => each.slice(key.length + 1));
}

/** What OpenID Connect calls what an application may learn. */
const SCOPES: ReadonlyMap<string, string> = new Map([
  ["profile", "your name, as the issuer publishes it"],
  ["groups", "your roles with the issuer"],
  ["offline_access", "that you stay signed in until you sign out"],
]);

/** What a scope lets a site learn; its own text where nobody knows it. */
export function grantWords(scope: string): string {
  return SCOPES.get(scope) ?? shown(scope);
}
