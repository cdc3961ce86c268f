/** What applications were given: codes, access and refresh tokens. @module */

import { type Found, recordsOf, type RecordStore } from "@sig/consumer/store";
import { equalInConstantTime } from "@sig/jose/internal";
import { randomText, sha256Base64Url } from "../login/digest.ts";
import type { ProviderKeys } from "./keys.ts";
import { type Session, sessionClient } from "../sessions/session.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { GRANT } from "../store/kinds.ts";

/** What a code is bound to. */
export interface CodeBinding {
  /** Where it was sent. */
  readonly redirect_uri: string;
  /** The S256 challenge of PKCE; absent: the client uses none. */
  readonly code_challenge?: string | undefined;
  /** What the ID token must repeat. */
  readonly nonce?: string | undefined;
}

/** One login of a person at an application: the family of all its tokens. */
export interface Grant {
  /** The application. */
  readonly client_id: string;
  /** The person's root (docs/protocol.md §4.1). */
  readonly subject: string;
  /** The session that it stands and falls with. */
  readonly sid: string;
  /** The joining of the application, as the session says. */
  readonly joined: string;
  /** What was granted. */
  readonly scope: readonly string[];
  /** What the application required beyond the server's own; nothing unless said. */
  readonly require?: readonly string[];
  /** Seconds since 1970; when the person signed. */
  readonly auth_time: number;
  /** Milliseconds since 1970. */
  readonly created_ms: number;
  /** What its code is bound to. */
  readonly binding: CodeBinding;
  /** SHA-256 of the code's secret, and whether it was used. */
  readonly code: { readonly sha256: string; readonly used: boolean };
  /** The access tokens that are good. */
  readonly access: readonly {
    readonly sha256: string;
    readonly expires_ms: number;
    /** Where it is less than what was granted. */
    readonly scope?: readonly string[];
  }[];
  /** SHA-256 of the secret of the one refresh token that is good, or null. */
  readonly refresh: string | null;
  /** Nothing of the family is good any more. */
  readonly dead?: true;
}

/** A grant that a token names, and how. */
export interface FoundGrant {
  /** Its id. */
  readonly id: string;
  /** The grant. */
  readonly grant: Grant;
  /** As it was found. */
  readonly found: Found<Grant>;
  /** The token's secret. */
  readonly secret: string;
  /** SHA-256 of the token's secret. */
  readonly sha256: string;
}

/** How tokens are made, next to each other. */
interface IssueOptions {
  /** Whether there is a refresh token; without one the family is soon over. */
  readonly refresh: boolean;
  /** Milliseconds since 1970; when the family's session is over. */
  readonly expiresMs: number;
  /** The scope of the access token (default: all that was granted). */
  readonly scope?: readonly string[] | undefined;
}

/** The grants of a provider. */
export type Grants = ReturnType<typeof createGrants>;

/** Milliseconds in which a code must be used. */
export const CODE_LIFE_MS = 60_000;
/**
 * Milliseconds for which it is remembered, so that a second use is noticed; by
 * then all access tokens that came of it are over.
 */
const CODE_REMEMBER_MS = 10 * 60_000;
/** Seconds that access and ID tokens are good. */
export const TOKEN_LIFE_SECONDS = 300;
/** Access tokens of one family that are good at a time. */
const MAX_ACCESS_TOKENS = 8;

const ID_BYTES = 16;
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
/** Of a refresh token, 120 bits; an HMAC fills the rest, 138 bits. */
const REFRESH_RANDOM_BYTES = 15;
const REFRESH_RANDOM_LENGTH = 20;

/** The id of a grant to come. */
export function newGrantId(): string {
  return randomText(ID_BYTES);
}

/**
 * Makes the grants of a provider. A grant is one record: whatever happens to a
 * family at once, one change of it comes first, and the others see that.
 *
 * Tokens are `<grant>.<secret>`; of the secret, 256 random bits, only the digest
 * is kept.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function createGrants(
  { store, keys, now }: {
    readonly store: RecordStore;
    readonly keys: Pick<ProviderKeys, "macsOf">;
    readonly now: () => Date;
  },
) {
  const records = recordsOf<Grant>(store, GRANT);

  /** Whose last part shows that it was made here; the rest is random. */
  function makeRefreshSecret(id: string): string {
    const random = randomText(REFRESH_RANDOM_BYTES);
    const [mac = ""] = refreshMacs(id, random);
    return random + mac;
  }

  const refreshMacs = (id: string, random: string) =>
    keys.macsOf(`refresh ${id} ${random}`)
      .map((mac) => mac.slice(0, SECRET_LENGTH - REFRESH_RANDOM_LENGTH));

  async function issueTokens(
    { id, found }: FoundGrant,
    { refresh, expiresMs, scope }: IssueOptions,
    isGood: (grant: Grant) => boolean,
  ) {
    const at = now();
    const accessSecret = randomText(SECRET_BYTES);
    const refreshSecret = refresh ? makeRefreshSecret(id) : undefined;
    const access = {
      sha256: sha256Base64Url(accessSecret),
      expires_ms: at.getTime() + TOKEN_LIFE_SECONDS * 1000,
      ...(scope === undefined ? {} : { scope }),
    };
    const { after } = await records.change(id, at, (grant) => {
      if (grant.dead) return undefined;
      if (!isGood(grant)) return dead(grant);
      const young = grant.access.filter(({ expires_ms }) =>
        at.getTime() < expires_ms
      );
      return {
        ...grant,
        code: { ...grant.code, used: true },
        access: [...young.slice(1 - MAX_ACCESS_TOKENS), access],
        refresh: refreshSecret ? sha256Base64Url(refreshSecret) : null,
      };
    }, {
      found,
      // Whom nothing refreshes needs no longer than the code is remembered.
      expiresAt: refresh ? new Date(expiresMs) : undefined,
    });
    if (after === undefined || after.dead) return undefined;
    return {
      access_token: `${id}.${accessSecret}`,
      ...(refreshSecret ? { refresh_token: `${id}.${refreshSecret}` } : {}),
    };
  }

  return {
    /** Keeps a grant under an id of {@linkcode newGrantId} and makes its code. */
    async create(
      id: string,
      grant: Omit<Grant, "code" | "access" | "refresh" | "created_ms">,
    ) {
      const at = now();
      const secret = randomText(SECRET_BYTES);
      await records.create(
        id,
        {
          ...grant,
          created_ms: at.getTime(),
          code: { sha256: sha256Base64Url(secret), used: false },
          access: [],
          refresh: null,
        },
        new Date(at.getTime() + CODE_REMEMBER_MS),
        at,
      );
      return `${id}.${secret}`;
    },
    /** The grant that a code or token names, whether that is valid or not. */
    async find(token: string): Promise<FoundGrant | undefined> {
      const [, id, secret] = TOKEN.exec(token) ?? [];
      if (id === undefined || secret === undefined) return undefined;
      const found = await records.find(id, now());
      if (found === undefined) return undefined;
      return {
        id,
        found,
        grant: found.value,
        secret,
        sha256: sha256Base64Url(secret),
      };
    },
    /** Whether a token of this family is, or once was, its refresh token. */
    wasRefreshToken({ id, grant: { refresh }, secret, sha256 }: FoundGrant) {
      if (refresh !== null && equalInConstantTime(refresh, sha256)) return true;
      const mac = secret.slice(REFRESH_RANDOM_LENGTH);
      const random = secret.slice(0, REFRESH_RANDOM_LENGTH);
      return refreshMacs(id, random).some((each) =>
        equalInConstantTime(each, mac)
      );
    },
    /**
     * Uses the code up. A second use revokes the family and returns undefined, and
     * so does the slower of two at the same time.
     */
    redeem: (found: FoundGrant, options: IssueOptions) =>
      issueTokens(found, options, ({ code }) => !code.used),
    /**
     * Replaces the refresh token. Any other than the valid one revokes the family
     * and returns undefined: an old one has been stolen.
     */
    rotate: (found: FoundGrant, options: IssueOptions) =>
      issueTokens(
        found,
        options,
        ({ refresh }) =>
          refresh !== null && equalInConstantTime(refresh, found.sha256),
      ),
    /** Revokes all tokens of the family. */
    async revokeFamily(id: string) {
      await records.change(
        id,
        now(),
        (grant) => grant.dead ? undefined : dead(grant),
      );
    },
    /** Deletes the family, so that its id is unknown. */
    async deleteGrant(id: string) {
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

const TOKEN = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** It stays as a mark until it expires: requests being answered find it. */
function dead(grant: Grant): Grant {
  return { ...grant, dead: true, access: [], refresh: null };
}

/**
 * The session of a grant, if it is alive and this application is still in it. A
 * grant from before the application left and joined again does not count.
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
