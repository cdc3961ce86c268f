/**
 * The answers of the consent page: the person's attestation, or a decline
 * (docs/openid.md).
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
import { oneOf, readAs, strictObject } from "@sig/api/internal/schemas";
import { SigError } from "@sig/core";
import type { Context } from "hono";
import { z } from "zod";
import { createChallenge } from "../login/create_challenge.ts";
import type { IssuerAnswer } from "../login/relationship.ts";
import { verifyLogin } from "../login/verify_login.ts";
import { requireOwnPage } from "../sessions/cookies.ts";
import { openInteraction, unknownSignIn } from "../sign_in/interaction.ts";
import { OAuthError } from "../sign_in/oauth.ts";
import { MAX_SUB_LENGTH } from "../sign_in/person.ts";
import { codeUrl, errorUrl } from "./answer_client.ts";
import type { ProviderContext } from "./provider_context.ts";

/**
 * `GET /oidc/interaction/<id>` returns the application of a sign-in, and a new
 * challenge.
 */
export async function showSignIn(
  c: Context<ServiceEnv, "/:id">,
  context: ProviderContext,
): Promise<Response> {
  const { interaction, client, boundTo } = openSignIn(c, context);
  const { client_id, client_name } = client;
  // Without a subject, since any key of the person may answer.
  const challenge = await createChallenge({
    audience: context.issuer,
    scopes: interaction.scope,
  }, {
    ...context.challenges,
    boundTo,
    client: c.get("budget").client || undefined,
    require: [...new Set([...context.require, ...client.require])],
  });
  return sendJson(c, { client: { client_id, client_name }, challenge });
}

const ANSWER = strictObject({
  attestation: z.string().optional(),
  declined: z.literal(true, "it must be true").optional(),
}).check(oneOf(["attestation", "declined"]));

/**
 * `POST /oidc/interaction/<id>` `{attestation}` or `{declined: true}` returns
 * the address to continue at, `{redirect_to}`.
 */
export async function answerSignIn(
  c: Context<ServiceEnv, "/:id">,
  context: ProviderContext,
): Promise<Response> {
  requireOwnPage(c.req.raw.headers, context.issuer);
  const body = await readJson(c, MAX_BODY_BYTES);
  const opened = openSignIn(c, context);
  const { attestation } = readAs(ANSWER, body);
  if (attestation !== undefined) {
    return await accept(c, opened, attestation, context);
  }
  const { interaction } = opened;
  const declined = new OAuthError("access_denied", "the person declined");
  return sendJson(c, {
    redirect_to: "redirect_uri" in interaction
      ? errorUrl(context, interaction, declined)
      // Redirecting to the proxy would start the same login again.
      : `${context.issuer}/`,
  });
}

/** Reads a sign-in, if the application still has its redirect_uri. */
function openSignIn(
  c: Context<ServiceEnv, "/:id">,
  context: ProviderContext,
) {
  const opened = openInteraction(c.req.raw.headers, c.req.param("id"), context);
  const { interaction } = opened;
  if (
    "redirect_uri" in interaction &&
    !context.clients().get(interaction.client_id)?.redirect_uris
      .includes(interaction.redirect_uri)
  ) throw unknownSignIn();
  return opened;
}

async function accept(
  c: Context<ServiceEnv>,
  { interaction, client, boundTo }: ReturnType<typeof openInteraction>,
  attestation: string,
  context: ProviderContext,
): Promise<Response> {
  const { sessions, sessionCookie, sessionMs } = context;
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
    ...context.logins,
    boundTo,
    client: c.get("budget").client,
    checkRelationship: async (subject) => {
      asked = await context.ask(subject, { require, explains: true });
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
  if (asked?.relationship === undefined) throw unknownSignIn();
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
    ? await codeUrl(context, client, session, interaction)
    : interaction.return_to;
  return send(c, JSON.stringify({ redirect_to }), "application/json", {
    headers: [sessionCookie.set(cookie, sessionMs / 1000)],
  });
}
