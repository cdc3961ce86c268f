/**
 * The consent page's side of a sign-in (docs/openid.md). What an application
 * asked for travels with the browser, sealed, and nothing of it is stored.
 *
 * @module
 */

import { readJson, send, sendJson, type ServiceEnv } from "@sig/api/http";
import type { Context, Hono } from "hono";
import { oneOf, readAs, strictObject } from "@sig/api/schemas";
import { SigError } from "@sig/core";
import { equalInConstantTime } from "@sig/jose/internal";
import { z } from "zod";
import {
  createChallenge,
  type CreateChallengeOptions,
} from "../login/create_challenge.ts";
import { randomText, sha256Base64Url } from "../login/digest.ts";
import type { AskIssuer, IssuerAnswer } from "../login/relationship.ts";
import { verifyLogin, type VerifyLoginOptions } from "../login/verify_login.ts";
import { requireOwnPage } from "../sessions/cookies.ts";
import { codeUrl, errorUrl, type PendingCode } from "./answer_client.ts";
import { MAX_SUB_LENGTH } from "./claims.ts";
import type { Client } from "./clients.ts";
import { invalidRequest, OAuthError } from "./oauth_error.ts";
import { requireGet, sendTo } from "./pages.ts";
import type { ProviderContext } from "./provider_context.ts";
import { seal, unseal } from "./keys.ts";

/** What waits for a person: an application for a code, or a proxy for a session. */
type Waiting = (PendingCode | PendingGate) & {
  /** The application. */
  readonly client_id: string;
  /** A key of the only person who may answer, or that person's root. */
  readonly subject?: string | undefined;
};

interface PendingGate {
  /** What was asked for. */
  readonly scope: readonly string[];
  /** An address of our own that continues when there is a session. */
  readonly return_to: string;
}

/** A sign-in that waits, as it is sealed. */
type Interaction = Waiting & {
  /** SHA-256 of the browser's cookie: the only browser that may answer. */
  readonly browser_sha256: string;
  /** Milliseconds since 1970. */
  readonly expires_ms: number;
};

/** Milliseconds in which the person must answer. */
const LIFE_MS = 15 * 60_000;
const BROWSER_BYTES = 32;
/**
 * Characters of a sealed sign-in: with the other headers of the redirect that
 * carries it, it must fit into the 4 KiB that nginx has for headers by default.
 */
const MAX_SEALED_LENGTH = 3_072;

/** What an interaction needs of the login. */
export interface InteractionLogin {
  /** How challenges are made. */
  readonly challenges: Omit<CreateChallengeOptions, "require">;
  /** What the server itself requires. */
  readonly require: readonly string[];
  /** How answers are verified. */
  readonly logins: Omit<VerifyLoginOptions, "checkRelationship">;
  /** The question to the issuer. */
  readonly ask: AskIssuer;
  /** Milliseconds that a session lives, for its cookie. */
  readonly sessionMs: number;
}

const PURPOSE = "sign-in";

/**
 * Sends the browser to the consent page, where it can continue and no other
 * browser can: a cookie identifies it.
 *
 * @throws {OAuthError} `invalid_request` for a request that is too long.
 */
export function beginInteraction(
  c: Context<ServiceEnv>,
  { browserCookie, issuer, keys, now }: Pick<
    ProviderContext,
    "browserCookie" | "issuer" | "keys" | "now"
  >,
  waiting: Waiting,
): Response {
  const given = browserCookie.read(c.req.raw.headers);
  const browser = given !== undefined && /^[A-Za-z0-9_-]{43}$/.test(given)
    ? given
    : randomText(BROWSER_BYTES);
  const id = seal(keys, PURPOSE, {
    ...waiting,
    browser_sha256: sha256Base64Url(browser),
    expires_ms: now().getTime() + LIFE_MS,
  });
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

const MAX_BODY_BYTES = 64 * 1024;
const PATH = "/oidc/interaction/:id";

/** A sign-in in the browser that began it. */
interface Opened {
  readonly interaction: Interaction;
  readonly client: Client;
  /** What its challenges are bound to. */
  readonly boundTo: string;
}

/** `GET` and `POST /oidc/interaction/<id>`, both with the browser's cookie. */
export function addInteractionRoutes(
  app: Hono<ServiceEnv>,
  context: ProviderContext,
  login: InteractionLogin,
): void {
  app.get(PATH, requireGet, async (c) => {
    const opened = openInteraction(c, c.req.param("id"), context);
    const { interaction, client, boundTo } = opened;
    const { client_id, client_name } = client;
    // Any key of the person may answer it, so it names none.
    const challenge = await createChallenge(
      { audience: context.issuer, scopes: interaction.scope },
      {
        ...login.challenges,
        ...{ boundTo, client: c.get("budget").client || undefined },
        require: [...new Set([...login.require, ...client.require])],
      },
    );
    return sendJson(c, { client: { client_id, client_name }, challenge });
  });
  app.post(PATH, async (c) => {
    requireOwnPage(c.req.raw.headers, context.issuer);
    const body = await readJson(c, MAX_BODY_BYTES);
    const opened = openInteraction(c, c.req.param("id"), context);
    const { attestation } = readAs(ANSWER, body);
    if (attestation === undefined) return decline(c, opened, context);
    return await c.get("budget").waitFor(
      "sign-ins",
      () => accept(c, opened, attestation, context, login),
    );
  });
}

/**
 * Reads a sign-in that this browser began, if its application may still be
 * answered there.
 *
 * @throws {SigError} `not_found`
 */
function openInteraction(
  c: Context<ServiceEnv>,
  id: string,
  { keys, browserCookie, clients, now }: ProviderContext,
): Opened {
  const interaction = id.length > MAX_SEALED_LENGTH
    ? undefined
    : unseal<Interaction>(keys, PURPOSE, id);
  const browser = browserCookie.read(c.req.raw.headers);
  const client = clients().get(interaction?.client_id ?? "");
  const digest = sha256Base64Url(browser ?? "");
  if (
    interaction === undefined || client === undefined ||
    !(now().getTime() < interaction.expires_ms) ||
    !equalInConstantTime(digest, interaction.browser_sha256) ||
    ("redirect_uri" in interaction &&
      !client.redirect_uris.includes(interaction.redirect_uri))
  ) throw unknown();
  return { interaction, client, boundTo: sha256Base64Url(id) };
}

async function accept(
  c: Context<ServiceEnv>,
  { interaction, client, boundTo }: Opened,
  attestation: string,
  context: ProviderContext,
  { logins, ask, sessionMs }: InteractionLogin,
): Promise<Response> {
  const { sessions, sessionCookie } = context;
  const { scope } = interaction;
  const { client_id, require } = client;
  let asked: IssuerAnswer | undefined;
  let person = "";
  const login = await verifyLogin(
    {
      attestation,
      // Another login may share the store: what was signed for that is not for us.
      audience: context.issuer,
      // A proxy gets all of it each time: nothing can be left out.
      scopes: "redirect_uri" in interaction ? ["openid"] : scope,
    },
    {
      ...{ ...logins, boundTo, client: c.get("budget").client },
      checkRelationship: async (subject) => {
        asked = await ask(subject, { require });
        if (asked.relationship !== undefined) {
          person = await asked.personOf();
          requireMeant([subject, person], interaction);
        }
        return asked.answer;
      },
    },
  );
  const { subject, scopes: granted } = login;
  requireSub(person);
  if (asked?.relationship === undefined) throw unknown();
  const { session, cookie } = await sessions.logIn({
    ...{ subject, person },
    relationship: asked.relationship,
    confirmed_ms: asked.observedMs,
    consent: "redirect_uri" in interaction
      ? { clientId: client_id, asked: scope, granted }
      : undefined,
  }, await sessions.find(sessionCookie.read(c.req.raw.headers)));
  const redirect_to = "redirect_uri" in interaction
    ? await codeUrl(context, client, session, interaction)
    : interaction.return_to;
  return send(c, JSON.stringify({ redirect_to }), "application/json", {
    headers: [sessionCookie.set(cookie, sessionMs / 1000)],
  });
}

function decline(
  c: Context<ServiceEnv>,
  { interaction }: Opened,
  context: ProviderContext,
): Response {
  // A proxy would only ask again.
  const redirect_to = "redirect_uri" in interaction
    ? errorUrl(
      context,
      interaction,
      new OAuthError("access_denied", "the person declined"),
    )
    : `${context.issuer}/`;
  return sendJson(c, { redirect_to });
}

/** @throws {SigError} `subject_mismatch` for another person than was asked for. */
function requireMeant(
  names: readonly string[],
  { subject }: Interaction,
): void {
  if (subject === undefined || names.includes(subject)) return;
  throw new SigError(
    "subject_mismatch",
    "Cannot sign in: the application asked for another person",
    { context: { hint: "Choose the key that you use at this application." } },
  );
}

/** OIDC Core §2: ASCII of 255 characters at most. */
function requireSub(subject: string): void {
  if (subject.length <= MAX_SUB_LENGTH && /^[\x21-\x7e]+$/.test(subject)) {
    return;
  }
  throw new SigError(
    "invalid_identifier",
    `Cannot sign in: applications take identifiers of at most ${MAX_SUB_LENGTH} ASCII characters`,
    { context: { limit: MAX_SUB_LENGTH } },
  );
}

function unknown(): SigError {
  return new SigError(
    "not_found",
    "Cannot sign in: this request is not known in this browser (any more)",
    { context: { hint: "Go back to the application and begin again." } },
  );
}
