/** The codes, access tokens and refresh tokens of applications. @module */

import { type Found, recordsOf, type RecordStore } from "@sig/consumer/store";
import { equalInConstantTime } from "@sig/jose/internal";
import { randomText, sha256Base64Url, splitToken } from "../store/digest.ts";
import type { PendingCode } from "../sign_in/interaction.ts";
import { type Session, sessionClient } from "../sessions/session.ts";
import { MAX_SESSIONS, type Sessions } from "../sessions/sessions.ts";
import { GRANT } from "../store/kinds.ts";
import { OwnerQuota } from "../store/owner_quota.ts";

/** A login of a person at an application, with the family of all its tokens. */
interface Grant {
  readonly client_id: string;
  /** The person's root DID (docs/protocol.md §4.1). */
  readonly subject: string;
  /** The id of the session; without the session the grant is invalid. */
  readonly sid: string;
  /** The id of the application's joining, as in the session. */
  readonly joined: string;
  readonly scope: readonly string[];
  /**
   * The application's requirements besides those of the server (default: none).
   */
  readonly require?: readonly string[];
  /** When the person signed, in seconds since 1970. */
  readonly auth_time: number;
  /** When the grant was created, in milliseconds since 1970. */
  readonly created_ms: number;
  /** The request that its code is bound to. */
  readonly binding: Pick<
    PendingCode,
    "redirect_uri" | "code_challenge" | "nonce"
  >;
  /** SHA-256 of the code's secret, and whether it was used. */
  readonly code: { readonly sha256: string; readonly used: boolean };
  /** The valid access tokens. */
  readonly access: readonly {
    readonly sha256: string;
    readonly expires_ms: number;
    /** The scope, if it is smaller than the granted one. */
    readonly scope?: readonly string[];
  }[];
  /** The refresh tokens; null if there are none. */
  readonly refresh: {
    /** SHA-256 of the secret of the only valid one. */
    readonly sha256: string;
    /** SHA-256 of the part that the secrets of all of them begin with. */
    readonly family_sha256: string;
  } | null;
}

/** The grant of a token. */
export interface FoundGrant {
  readonly id: string;
  readonly grant: Grant;
  /** The record as it was read. */
  readonly found: Found<Grant>;
  readonly secret: string;
  readonly sha256: string;
}

/** Options for issuing tokens. */
interface IssueOptions {
  /**
   * Expiry of a refresh token (default: none is issued, and the family expires
   * soon).
   */
  readonly refreshUntil: Date | undefined;
  /** The scope of the access token (default: all that was granted). */
  readonly scope?: readonly string[] | undefined;
}

/** The grants of a provider. */
export type Grants = ReturnType<typeof createGrants>;

/** Lifetime of a code in milliseconds. */
export const CODE_LIFE_MS = 60_000;
/**
 * Milliseconds for which a code is stored to detect a second use; all access
 * tokens that it produced have expired by then.
 */
const CODE_REMEMBER_MS = 10 * 60_000;
/** Lifetime of access and ID tokens in seconds. */
export const TOKEN_LIFE_SECONDS = 300;
/** Maximum number of valid access tokens of one family. */
const MAX_ACCESS_TOKENS = 8;

const ID_BYTES = 16;
const SECRET_BYTES = 32;
/**
 * Length of the part that the refresh tokens of a family have in common; 120 of
 * its 256 random bits.
 */
const FAMILY_LENGTH = 20;
/** Maximum number of grants of an application in one session. */
export const MAX_GRANTS = 16;
/** Maximum number of grants of a person at an application. */
const MAX_GRANTS_OF_PERSON = MAX_GRANTS * MAX_SESSIONS;

/**
 * Creates the grants of a provider. A grant is one record, so concurrent
 * changes of a family are serialized and each sees the previous one.
 *
 * Tokens are `<grant>.<secret>`; only the digest of the secret, 256 bits, is
 * stored. A new grant displaces the oldest of its application in the session if
 * there are too many, so that one person can't fill the store.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function createGrants({ store, now }: {
  readonly store: RecordStore;
  readonly now: () => Date;
}) {
  const records = recordsOf<Grant>(store, GRANT);
  const ofSession = new OwnerQuota({ maxRecords: MAX_GRANTS });
  const ofPerson = new OwnerQuota({ maxRecords: MAX_GRANTS_OF_PERSON });

  return {
    /**
     * Stores a grant of a session, which ends at `sessionUntil`, and returns its
     * code.
     */
    async create(
      grant: Omit<Grant, "code" | "access" | "refresh" | "created_ms">,
      sessionUntil: Date,
    ) {
      const at = now();
      const id = randomText(ID_BYTES);
      const secret = randomText(SECRET_BYTES);
      const created: Grant = {
        ...grant,
        created_ms: at.getTime(),
        code: { sha256: sha256Base64Url(secret), used: false },
        access: [],
        refresh: null,
      };
      const until = new Date(at.getTime() + CODE_REMEMBER_MS);
      await records.create(id, created, until, at);
      const { sid, subject, client_id } = grant;
      const held = { id, until: sessionUntil };
      const displaced = [
        ...ofSession.add(`${sid} ${client_id}`, held, at),
        ...ofPerson.add(`${subject} ${client_id}`, held, at),
      ];
      for (const old of displaced) await records.take(old, at);
      return `${id}.${secret}`;
    },
    /**
     * Returns the grant of a code or token, even if the code or token is
     * invalid.
     */
    async find(token: string): Promise<FoundGrant | undefined> {
      const parts = splitToken(token);
      if (parts === undefined) return undefined;
      const found = await records.find(parts.id, now());
      const sha256 = sha256Base64Url(parts.secret);
      return found && { ...parts, found, grant: found.value, sha256 };
    },
    /** Whether a token is or was a refresh token of this family. */
    wasRefreshToken: ({ grant, secret }: FoundGrant) =>
      grant.refresh !== null && equalInConstantTime(
        grant.refresh.family_sha256,
        sha256Base64Url(familyOf(secret)),
      ),
    /**
     * Issues tokens for an unused code or the valid refresh token. Any other
     * use, even a concurrent one, indicates theft: it revokes the family and
     * returns undefined.
     */
    async exchange(token: FoundGrant, { refreshUntil, scope }: IssueOptions) {
      const at = now();
      const { id, found, secret, grant } = token;
      const accessSecret = randomText(SECRET_BYTES);
      const fresh = randomText(SECRET_BYTES);
      const refreshSecret = grant.refresh === null
        ? fresh
        : familyOf(secret) + fresh.slice(FAMILY_LENGTH);
      const refresh = refreshUntil && {
        sha256: sha256Base64Url(refreshSecret),
        family_sha256: sha256Base64Url(familyOf(refreshSecret)),
      };
      const access = {
        sha256: sha256Base64Url(accessSecret),
        expires_ms: at.getTime() + TOKEN_LIFE_SECONDS * 1000,
        ...(scope === undefined ? {} : { scope }),
      };
      const { after } = await records.change(id, at, (grant) => {
        if (!isUnusedCode(grant, token) && !isRefreshToken(grant, token)) {
          return undefined;
        }
        const young = grant.access.filter(({ expires_ms }) =>
          at.getTime() < expires_ms
        );
        return {
          ...grant,
          code: { ...grant.code, used: true },
          access: [...young.slice(1 - MAX_ACCESS_TOKENS), access],
          refresh: refresh ?? null,
        };
      }, {
        found,
        // Without a refresh token, the grant expires with its code.
        expiresAt: refreshUntil,
      });
      if (after === undefined) {
        // Used again, even concurrently: tokens of the first use go with it.
        await records.take(id, at);
        return undefined;
      }
      return {
        access_token: `${id}.${accessSecret}`,
        ...(refresh && { refresh_token: `${id}.${refreshSecret}` }),
      };
    },
    /**
     * Revokes all tokens of the family by deleting its record, which a
     * concurrent change then does not find.
     */
    async revokeFamily(id: string) {
      await records.take(id, now());
    },
    /** Revokes one access token. */
    async revokeAccessToken({ id, sha256 }: FoundGrant) {
      await records.change(id, now(), (grant) => ({
        ...grant,
        access: grant.access.filter((each) => each.sha256 !== sha256),
      }));
    },
  };
}

/** Whether a token is the code of its grant, and was not used. */
function isUnusedCode({ code }: Grant, { sha256 }: FoundGrant): boolean {
  return !code.used && equalInConstantTime(code.sha256, sha256);
}

/** Whether a token is the only valid refresh token of its family. */
export function isRefreshToken(
  { refresh }: Grant,
  { sha256 }: FoundGrant,
): boolean {
  return refresh !== null && equalInConstantTime(refresh.sha256, sha256);
}

const familyOf = (secret: string) => secret.slice(0, FAMILY_LENGTH);

/**
 * Returns the session of a grant if the session continues and the application
 * is still in it. A grant from an earlier joining of the application is
 * invalid.
 */
export async function sessionOf(
  { sid, client_id, joined }: Grant,
  { sessions }: { readonly sessions: Pick<Sessions, "get"> },
): Promise<Session | undefined> {
  const session = await sessions.get(sid);
  return session && sessionClient(session, client_id)?.id === joined
    ? session
    : undefined;
}
