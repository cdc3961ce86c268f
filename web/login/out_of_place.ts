/** Waiting for others outside of a request's place. @module */

import type { ServiceEnv } from "@sig/api/http";
import type { Context } from "hono";
import type { CheckRelationship } from "./relationship.ts";
import type { LoginKeyResolver } from "./subject_key.ts";
import type { VerifyLoginOptions } from "./verify_login.ts";

/** Whom a login waits for. */
interface LoginSources {
  /** Finds the subject's key: did:web is fetched. */
  readonly resolveKey: LoginKeyResolver;
  /** Asks the issuer, where a relationship is required. */
  readonly checkRelationship?: CheckRelationship | undefined;
  /** That issuer. */
  readonly issuer: string | null;
}

/**
 * DID documents that one client lets us fetch at a time: a quarter of all, or
 * the silent hosts that one client names would keep out all others' subjects.
 */
export const SUBJECTS_EACH_CLIENT = 16;

/**
 * The same for one request, which leaves its place while it waits: a host or an
 * issuer that is silent holds up the logins that need it, and no others.
 *
 * @throws {SigError} from the methods also `overloaded`, when too many wait for
 * the same one.
 */
export function loginsOutOfPlace(
  { resolveKey, checkRelationship, issuer }: LoginSources,
  c: Context<ServiceEnv>,
): Pick<VerifyLoginOptions, "resolveKey" | "checkRelationship"> {
  const ownResolveKey: LoginKeyResolver = (kid, challengeId) =>
    kid.startsWith("did:web:")
      ? c.get("budget").waitFor(
        "did:web subjects",
        async () => await resolveKey(kid, challengeId),
        SUBJECTS_EACH_CLIENT,
      )
      : resolveKey(kid, challengeId);
  if (checkRelationship === undefined) return { resolveKey: ownResolveKey };
  return {
    resolveKey: ownResolveKey,
    checkRelationship: (subject, now) =>
      c.get("budget").waitFor(
        issuer ?? "",
        () => checkRelationship(subject, now),
      ),
  };
}
