/** Requirements and scopes in words. @module */

import { hostOf, typeLabel, visibleText } from "../text.ts";

/**
 * Returns requirements in words, such as "employee of acme.example with the
 * role deploy"; undefined if nothing is required.
 */
export function describeRequirements(
  require: unknown,
  issuer: string | null,
): string | undefined {
  const list = [require ?? []].flat()
    .map((each) => typeof each === "string" ? each : visibleText(each));
  if (list.length === 0) return undefined;
  const valuesOf = (key: string) =>
    list.filter((each) => each.startsWith(`${key}=`))
      .map((each) => visibleText(each.slice(key.length + 1)));
  const types = valuesOf("relationship").map(typeLabel);
  const roles = valuesOf("role");
  const ids = valuesOf("relationship_id");
  const others = list.filter((each) =>
    !/^(relationship|role|relationship_id)=/.test(each)
  ).map((each) => visibleText(each));
  return [
    types.length > 0 ? types.join(" and ") : "someone",
    issuer !== null && `of ${hostOf(issuer)}`,
    roles.length > 0 &&
    `with the role${roles.length > 1 ? "s" : ""} ${roles.join(" and ")}`,
    ids.length > 0 && `by the relationship ${ids.join(" and ")}`,
    others.length > 0 && `and ${others.join(" and ")}`,
  ].filter(Boolean).join(" ");
}

const SCOPES: ReadonlyMap<string, string> = new Map([
  ["profile", "your name, if the issuer publishes it"],
  ["groups", "your roles with the issuer"],
]);

/** Returns what a scope lets a site do; undefined if it learns something. */
export function permissionLabel(scope: string): string | undefined {
  return scope === "offline_access"
    ? "keep you signed in until you sign out"
    : undefined;
}

/**
 * Returns what a scope lets a site learn; unknown scopes are shown unchanged.
 */
export function scopeLabel(scope: string): string {
  return SCOPES.get(scope) ?? visibleText(scope);
}
