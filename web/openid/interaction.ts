/** What the page of the login asks and answers (INTERFACES §4b). @module */

import type { Exchange, Route } from "@sig/api/http";
import { flag, object, readAs, text } from "@sig/api/requests";
import { SigError } from "@sig/core";
import { equalInConstantTime } from "@sig/jose";
import type { Challenge } from "../login/challenge.ts";
import {
  createChallenge,
  type CreateChallengeOptions,
} from "../login/create_challenge.ts";
import { digestOf } from "../login/digest.ts";
import type { AskIssuer } from "../login/login_gate.ts";
import { verifyLogin, type VerifyLoginOptions } from "../login/verify_login.ts";
import { codeLocation, errorLocation } from "./answer_client.ts";
import { MAX_SUB_LENGTH } from "./claims.ts";
import type { Client } from "./client.ts";
import type { Interaction } from "./interaction_record.ts";
import { OAuthError } from "./oauth_error.ts";
import type { ProviderContext } from "./provider_context.ts";

/** What an interaction needs of the login. */
export interface InteractionLogin {
  /** How challenges are made. */
  readonly challenges: Omit<CreateChallengeOptions, "require">;
  /** What the server itself requires. */
  readonly require: readonly string[];
  /** How answers are judged. */
  readonly logins: Omit<VerifyLoginOptions, "checkRelationship">;
  /** The question to the issuer. */
  readonly ask: AskIssuer;
  /** Milliseconds that a session lives, for its cookie. */
  readonly sessionMs: number;
}

interface Answer {
  readonly attestation?: string;
  readonly declined?: boolean;
}

const ANSWER = object<Answer>({
  members: { attestation: text(), declined: flag({}) },
  exactlyOne: ["attestation", "declined"],
});

const MAX_BODY_BYTES = 64 * 1024;
const PATH = "/oidc/interaction/:id";

interface Found {
  readonly id: string;
  readonly interaction: Interaction;
  readonly client: Client;
}

/** `GET` and `POST /oidc/interaction/<id>`, both with the browser's cookie. */
export function createInteractionRoutes(
  context: ProviderContext,
  login: InteractionLogin,
): readonly Route[] {
  return [
    {
      method: "GET",
      path: PATH,
      handle: (exchange, { id = "" }) =>
        exchange.waitFor("sign-ins", async () => {
          const found = await find(exchange, id, context);
          const { client_id, client_name } = found.client;
          const challenge = await challengeFor(found, context, login);
          return exchange.json({
            client: { client_id, client_name },
            challenge,
          });
        }),
    },
    {
      method: "POST",
      path: PATH,
      async handle(exchange, { id = "" }) {
        requireOwnPage(exchange.request.headers, context.issuer);
        const body = await exchange.readJson(MAX_BODY_BYTES);
        return await exchange.waitFor("sign-ins", async () => {
          const found = await find(exchange, id, context);
          const { attestation, declined } = readAs(ANSWER, body);
          if (attestation !== undefined) {
            return await accept(exchange, found, attestation, context, login);
          }
          if (declined !== true) throw notDeclined();
          return await decline(exchange, found, context);
        });
      },
    },
  ];
}

/** A page of a neighbour under the same domain gets cookies along, too. */
function requireOwnPage(headers: Headers, issuer: string): void {
  const site = headers.get("sec-fetch-site") ?? "same-origin";
  const origin = headers.get("origin") ?? issuer;
  if (site === "same-origin" && origin === issuer) return;
  throw new SigError(
    "origin_not_allowed",
    "Cannot answer: a page of another site asks",
  );
}

/** For another browser it is not there at all. */
async function find(
  exchange: Exchange,
  id: string,
  { interactions, browserCookie, clients, now }: ProviderContext,
): Promise<Found> {
  const isId = /^[A-Za-z0-9_-]{32}$/.test(id);
  const interaction = isId ? await interactions.get(id, now()) : undefined;
  const browser = browserCookie.read(exchange.request.headers);
  const client = clients().get(interaction?.client_id ?? "");
  const digest = await digestOf(browser ?? "");
  if (
    interaction === undefined || client === undefined ||
    !equalInConstantTime(digest, interaction.browser_sha256)
  ) throw unknown();
  return { id, interaction, client };
}

/** The same one for as long as it can be answered, also when a page is reloaded. */
async function challengeFor(
  { id, interaction, client }: Found,
  { interactions, now }: ProviderContext,
  { challenges, require }: InteractionLogin,
): Promise<Challenge> {
  const { challenge: known } = interaction;
  if (known !== undefined) {
    const { state } = await challenges.store.read(known.challenge_id, now());
    if (state === "issued") return known;
  }
  const { scope, subject } = interaction;
  const challenge = await createChallenge(
    { scopes: scope, ...(subject === undefined ? {} : { subject }) },
    {
      ...challenges,
      require: [...new Set([...require, ...client.require])],
    },
  );
  const { after } = await interactions.change(
    id,
    now(),
    (each) => ({ ...each, challenge }),
  );
  if (after === undefined) throw unknown();
  return challenge;
}

async function accept(
  exchange: Exchange,
  { id, interaction, client }: Found,
  attestation: string,
  context: ProviderContext,
  { logins, ask, sessionMs }: InteractionLogin,
): Promise<Response> {
  const { interactions, sessions, sessionCookie, now } = context;
  const { challenge, binding, scope, state } = interaction;
  if (challenge === undefined) throw unknown();
  const { require } = client;
  const login = await verifyLogin(
    { attestation, challenge_id: challenge.challenge_id, scopes: ["openid"] },
    {
      ...logins,
      checkRelationship: (subject) => ask.check(subject, { require }),
    },
  );
  const { subject } = login;
  requireSub(subject);
  // The answer that has just been used was for this alone.
  if (await interactions.take(id, now()) === undefined) throw unknown();
  const standing = await ask.standing(subject, {
    require,
    maxAgeSeconds: SAME_ANSWER_SECONDS,
  });
  if (standing === undefined) throw unknown();
  const before = await sessions.find(
    sessionCookie.read(exchange.request.headers),
  );
  const { session, cookie } = await sessions.logIn(
    {
      subject,
      standing,
      withheld: scope.filter((each) => !login.scopes.includes(each)),
    },
    before,
  );
  // What the person did not grant is not given.
  const granted = scope.filter((each) => login.scopes.includes(each));
  const redirect_to = await codeLocation(context, client, session, {
    ...{ binding, scope: granted, state },
  });
  if (redirect_to === undefined) throw unknown();
  return exchange.reply(JSON.stringify({ redirect_to }), {
    type: "application/json",
    headers: [sessionCookie.set(cookie, sessionMs / 1000)],
  });
}

/** The answer that was just judged is young enough to be told of once more. */
const SAME_ANSWER_SECONDS = 60;

async function decline(
  exchange: Exchange,
  { id, interaction }: Found,
  context: ProviderContext,
): Promise<Response> {
  const taken = await context.interactions.take(id, context.now());
  if (taken === undefined) throw unknown();
  const { binding: { redirect_uri }, state } = interaction;
  const redirect_to = errorLocation(
    context,
    { redirect_uri, state },
    new OAuthError("access_denied", "the person declined"),
  );
  return exchange.json({ redirect_to });
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

function notDeclined(): SigError {
  return new SigError(
    "invalid_request",
    "Cannot read request: /declined: it must be true",
    { context: { pointer: "/declined" } },
  );
}
