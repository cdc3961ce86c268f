/**
 * A sign-in on the consent page (docs/openid.md). The application's request is
 * sealed and kept in the browser's address; the server stores nothing.
 *
 * @module
 */

import {
  MAX_BODY_BYTES,
  readJson,
  send,
  sendJson,
  type ServiceEnv,
} from "@sig/api/internal/http";
import type { RecordStore } from "@sig/consumer/store";
import type { Context, Hono } from "hono";
import { oneOf, readAs, strictObject } from "@sig/api/internal/schemas";
import { SigError } from "@sig/core";
import { equalInConstantTime } from "@sig/jose/internal";
import { z } from "zod";
import { createChallenge } from "../login/create_challenge.ts";
import { sha256Base64Url } from "../login/digest.ts";
import type { AskIssuer, IssuerAnswer } from "../login/relationship.ts";
import { verifyLogin } from "../login/verify_login.ts";
import { type HostCookie, requireOwnPage } from "../sessions/cookies.ts";
import type { Recheck } from "../sessions/recheck.ts";
import type { Session } from "../sessions/session.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { LoginHost } from "./host.ts";
import { invalidRequest, OAuthError } from "./oauth.ts";
import { requireGet, sendTo } from "./pages.ts";
import { MAX_SUB_LENGTH, type NameOf } from "./person.ts";
import { seal, type SealingKeys, unseal } from "./seal.ts";

/** An application that people sign in to, as pages display it. */
export interface Application {
  /** Its unique id. */
  readonly client_id: string;
  /** Its display name. */
  readonly client_name: string;
  /** Its requirements besides those of the server, `key=value` each. */
  readonly require: readonly string[];
}

/** The destination of an authorization response. */
export interface Pending {
  readonly redirect_uri: string;
  /** The `state` to repeat in the response. */
  readonly state?: string | undefined;
  /** The response mode (default: query). */
  readonly response_mode?: "form_post" | undefined;
}

/** The destination of a code, and the request that it is for. */
export interface PendingCode extends Pending {
  readonly scope: readonly string[];
  /** The S256 challenge of PKCE; absent without PKCE. */
  readonly code_challenge?: string | undefined;
  /** The nonce to repeat in the ID token. */
  readonly nonce?: string | undefined;
}

/** The state that sign-ins share. */
export interface SignInContext extends Recheck {
  /** The issuer identifier: an origin, never taken from a request. */
  readonly issuer: string;
  /** Returns the current application or host with a client id. */
  readonly applicationOf: (clientId: string) => Application | undefined;
  readonly keys: SealingKeys;
  readonly store: RecordStore;
  readonly sessions: Sessions;
  readonly sessionCookie: HostCookie;
  /** The cookie that identifies the browser during a login. */
  readonly browserCookie: HostCookie;
  /** Returns the operator's display name of a person. */
  readonly nameOf?: NameOf | undefined;
  readonly now: () => Date;
}

/**
 * A pending request: an application waits for a code, or a proxy for a session.
 */
type Waiting = (PendingCode | PendingGate) & {
  /** The client id of the application. */
  readonly client_id: string;
  /**
   * The only person who may answer: the DID of one of their keys, or their root
   * DID.
   */
  readonly subject?: string | undefined;
};

interface PendingGate {
  /** The requested scopes. */
  readonly scope: readonly string[];
  /** The address on this server that continues after the login. */
  readonly return_to: string;
}

/** A pending sign-in, as sealed. */
type Interaction = Waiting & {
  /** SHA-256 of the cookie of the only browser that may answer. */
  readonly browser_sha256: string;
};

/** Lifetime of a pending sign-in in milliseconds. */
const LIFE_MS = 15 * 60_000;
/**
 * Maximum length of a sealed sign-in in characters. The headers of its redirect
 * must fit into 4 KiB, the default limit of nginx.
 */
const MAX_SEALED_LENGTH = 3_072;

/** What completes a sign-in: the login, and the provider of the application. */
interface Completion extends Pick<LoginHost, "challenges" | "logins"> {
  /** The requirements of the server. */
  readonly require: readonly string[];
  /** Queries the issuer about a subject. */
  readonly ask: AskIssuer;
  /** Lifetime of a session in milliseconds, for its cookie. */
  readonly sessionMs: number;
  /** Whether an application still has this redirect_uri. */
  isRegistered(clientId: string, redirectUri: string): boolean;
  /** Returns the address of a response with a new code. */
  codeUrl(
    application: Application,
    session: Session,
    pending: PendingCode,
  ): Promise<string>;
  /** Returns the address of an error response. */
  errorUrl(pending: Pending, error: OAuthError): string;
}

const PURPOSE = "sign-in";

/**
 * Redirects the browser to the consent page. A cookie identifies the browser,
 * so that no other browser can continue.
 *
 * @throws {OAuthError} `invalid_request` for a request that is too long.
 */
export function beginInteraction(
  c: Context<ServiceEnv>,
  context: SignInContext,
  waiting: Waiting,
): Response {
  const { browserCookie, issuer } = context;
  const browser = browserCookie.secretIn(c.req.raw.headers);
  const browser_sha256 = sha256Base64Url(browser);
  const id = seal(context, PURPOSE, { ...waiting, browser_sha256 }, LIFE_MS);
  if (id.length > MAX_SEALED_LENGTH) {
    throw invalidRequest(
      "the request is too long: state, nonce, login_hint and rd together",
    );
  }
  return sendTo(`${issuer}/#/sign-in/${id}`, [
    browserCookie.set(browser, LIFE_MS / 1000),
  ]);
}

const ANSWER = strictObject({
  attestation: z.string().optional(),
  declined: z.literal(true, "it must be true").optional(),
}).check(oneOf(["attestation", "declined"]));

const PATH = "/oidc/interaction/:id";

/**
 * Adds `GET` and `POST /oidc/interaction/<id>`, which need the browser's
 * cookie.
 */
export function addInteractionRoutes(
  app: Hono<ServiceEnv>,
  context: SignInContext,
  completion: Completion,
): void {
  app.get(PATH, requireGet, async (c) => {
    const opened = openInteraction(c, c.req.param("id"), context, completion);
    const { interaction, client, boundTo } = opened;
    const { client_id, client_name } = client;
    // Without a subject, since any key of the person may answer.
    const challenge = await createChallenge({
      audience: context.issuer,
      scopes: interaction.scope,
    }, {
      ...completion.challenges,
      boundTo,
      client: c.get("budget").client || undefined,
      require: [...new Set([...completion.require, ...client.require])],
    });
    return sendJson(c, { client: { client_id, client_name }, challenge });
  });
  app.post(PATH, async (c) => {
    requireOwnPage(c.req.raw.headers, context.issuer);
    const body = await readJson(c, MAX_BODY_BYTES);
    const opened = openInteraction(c, c.req.param("id"), context, completion);
    const { attestation } = readAs(ANSWER, body);
    if (attestation !== undefined) {
      return await accept(c, opened, attestation, context, completion);
    }
    const { interaction } = opened;
    const declined = new OAuthError("access_denied", "the person declined");
    return sendJson(c, {
      redirect_to: "redirect_uri" in interaction
        ? completion.errorUrl(interaction, declined)
        // Redirecting to the proxy would start the same login again.
        : `${context.issuer}/`,
    });
  });
}

/** A sign-in in the browser that started it. */
type Opened = ReturnType<typeof openInteraction>;

/**
 * Reads a sign-in that this browser started, if its redirect_uri is still
 * registered.
 *
 * @throws {SigError} `not_found`
 */
function openInteraction(
  c: Context<ServiceEnv>,
  id: string,
  context: SignInContext,
  { isRegistered }: Completion,
) {
  const { applicationOf, browserCookie } = context;
  const interaction = id.length > MAX_SEALED_LENGTH
    ? undefined
    : unseal<Interaction>(context, PURPOSE, id);
  const browser = browserCookie.read(c.req.raw.headers);
  const client = applicationOf(interaction?.client_id ?? "");
  const digest = sha256Base64Url(browser ?? "");
  if (
    interaction === undefined || client === undefined ||
    !equalInConstantTime(digest, interaction.browser_sha256) ||
    ("redirect_uri" in interaction &&
      !isRegistered(client.client_id, interaction.redirect_uri))
  ) throw unknown();
  // Its challenges are bound to this sign-in.
  return { interaction, client, boundTo: sha256Base64Url(id) };
}

async function accept(
  c: Context<ServiceEnv>,
  { interaction, client, boundTo }: Opened,
  attestation: string,
  context: SignInContext,
  { logins, ask, sessionMs, codeUrl }: Completion,
): Promise<Response> {
  const { sessions, sessionCookie } = context;
  const { scope } = interaction;
  const { client_id, require } = client;
  let asked: IssuerAnswer | undefined;
  let person = "";
  const login = await verifyLogin({
    attestation,
    // Another login may share the store; its attestations are not valid here.
    audience: context.issuer,
    // A proxy always gets all scopes, so the person can't decline some of
    // them.
    scopes: "redirect_uri" in interaction ? ["openid"] : scope,
  }, {
    ...logins,
    boundTo,
    client: c.get("budget").client,
    checkRelationship: async (subject) => {
      asked = await ask(subject, { require, explains: true });
      if (asked.relationship !== undefined) {
        person = await asked.personOf();
        const { subject: meant = subject } = interaction;
        if (meant !== subject && meant !== person) {
          throw new SigError("subject_mismatch", {
            action: "sign in",
            reason: "the application asked for another person",
            context: {
              hint: "Choose the key that you use at this application.",
            },
          });
        }
      }
      return asked.answer;
    },
  });
  const { subject, scopes: granted } = login;
  // As a `sub` (OIDC Core §2).
  if (person.length > MAX_SUB_LENGTH || !/^[\x21-\x7e]+$/.test(person)) {
    throw new SigError("invalid_identifier", {
      action: "sign in",
      reason:
        `applications take identifiers of at most ${MAX_SUB_LENGTH} ASCII characters`,
      context: { limit: MAX_SUB_LENGTH },
    });
  }
  if (asked?.relationship === undefined) throw unknown();
  const { session, cookie } = await sessions.logIn({
    subject,
    person,
    relationship: asked.relationship,
    confirmed_ms: asked.observedMs,
    consent: "redirect_uri" in interaction
      ? { clientId: client_id, asked: scope, granted }
      : undefined,
  }, await sessions.find(sessionCookie.read(c.req.raw.headers)));
  const redirect_to = "redirect_uri" in interaction
    ? await codeUrl(client, session, interaction)
    : interaction.return_to;
  return send(c, JSON.stringify({ redirect_to }), "application/json", {
    headers: [sessionCookie.set(cookie, sessionMs / 1000)],
  });
}

function unknown(): SigError {
  return new SigError("not_found", {
    action: "sign in",
    reason: "this request is unknown in this browser, or has expired",
    context: { hint: "Go back to the application and begin again." },
  });
}
