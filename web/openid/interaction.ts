/** What the page of the login asks and answers (INTERFACES §4b). @module */

import type { Exchange, Route } from "@sig/api/http";
import { flag, object, readAs, text } from "@sig/api/requests";
import { type CheckAnswer, SigError } from "@sig/core";
import { equalInConstantTime } from "@sig/jose";
import type { Challenge } from "../login/challenge.ts";
import {
  createChallenge,
  type CreateChallengeOptions,
} from "../login/create_challenge.ts";
import { digestOf } from "../login/digest.ts";
import type { AskIssuer } from "../login/login_gate.ts";
import { loginsOutOfPlace } from "../login/out_of_place.ts";
import { verifyLogin, type VerifyLoginOptions } from "../login/verify_login.ts";
import { codeLocation, errorLocation } from "./answer_client.ts";
import { MAX_SUB_LENGTH } from "./claims.ts";
import type { Client } from "./client.ts";
import { newGrantId } from "./grants.ts";
import type { Interaction } from "./interaction_record.ts";
import { OAuthError } from "./oauth_error.ts";
import type { ProviderContext } from "./provider_context.ts";
import type { Found } from "../stores/records.ts";

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

/** A request that waits, in the browser that began it. */
interface Waiting {
  readonly id: string;
  readonly interaction: Interaction;
  /** As it was found. */
  readonly found: Found<Interaction>;
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

/**
 * For another browser it is not there at all, nor once the application may not
 * be answered there any more.
 */
async function find(
  exchange: Exchange,
  id: string,
  { interactions, browserCookie, clients, now }: ProviderContext,
): Promise<Waiting> {
  const isId = /^[A-Za-z0-9_-]{32}$/.test(id);
  const found = isId ? await interactions.find(id, now()) : undefined;
  const interaction = found?.value;
  const browser = browserCookie.read(exchange.request.headers);
  const client = clients().get(interaction?.client_id ?? "");
  const digest = await digestOf(browser ?? "");
  if (
    found === undefined || interaction === undefined || client === undefined ||
    !equalInConstantTime(digest, interaction.browser_sha256) ||
    ("binding" in interaction &&
      !client.redirectUris.includes(interaction.binding.redirect_uri))
  ) throw unknown();
  return { id, interaction, found, client };
}

/** The same one for as long as it can be answered, also when a page is reloaded. */
async function challengeFor(
  { id, interaction, found, client }: Waiting,
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
    { found },
  );
  if (after === undefined) throw unknown();
  return challenge;
}

async function accept(
  exchange: Exchange,
  { id, interaction, client }: Waiting,
  attestation: string,
  context: ProviderContext,
  { logins, ask, sessionMs }: InteractionLogin,
): Promise<Response> {
  const { interactions, sessions, sessionCookie, now } = context;
  const { challenge, scope } = interaction;
  if (challenge === undefined) throw unknown();
  const { require } = client;
  let answer: CheckAnswer | undefined;
  const login = await verifyLogin(
    {
      attestation,
      challenge_id: challenge.challenge_id,
      // Another login may share the store: what was signed for that is not for us.
      audience: context.issuer,
      // A proxy is told all of it each time: nothing can be left out.
      scopes: "binding" in interaction ? ["openid"] : scope,
    },
    {
      ...logins,
      // A did:web is fetched, at the word of whoever answers.
      ...loginsOutOfPlace({ ...logins, issuer: ask.issuer }, exchange),
      checkRelationship: async (subject) =>
        answer = await ask.check(subject, { require }),
    },
  );
  const { subject } = login;
  requireSub(subject);
  // The answer that has just been used was for this alone.
  if (await interactions.take(id, now()) === undefined) throw unknown();
  const standing = answer && await ask.standingOf(answer);
  if (standing === undefined) throw unknown();
  const before = await sessions.find(
    sessionCookie.read(exchange.request.headers),
  );
  const grant = newGrantId();
  const { session, cookie } = await sessions.logIn(
    {
      subject,
      standing,
      withheld: scope.filter((each) => !login.scopes.includes(each)),
      granted: login.scopes,
    },
    before,
    "binding" in interaction
      ? { clientId: client.client_id, grant }
      : undefined,
  );
  const redirect_to = "binding" in interaction
    ? await codeLocation(context, client, session, {
      grant,
      binding: interaction.binding,
      // What the person did not grant is not given.
      scope: scope.filter((each) => login.scopes.includes(each)),
      state: interaction.state,
    })
    : interaction.return_to;
  return exchange.reply(JSON.stringify({ redirect_to }), {
    type: "application/json",
    headers: [sessionCookie.set(cookie, sessionMs / 1000)],
  });
}

async function decline(
  exchange: Exchange,
  { id, interaction }: Waiting,
  context: ProviderContext,
): Promise<Response> {
  const taken = await context.interactions.take(id, context.now());
  if (taken === undefined) throw unknown();
  // A proxy would only ask again.
  if (!("binding" in interaction)) {
    return exchange.json({ redirect_to: `${context.issuer}/` });
  }
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
