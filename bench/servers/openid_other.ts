/**
 * `oidc-provider` with its in-memory store. Its person proves a signature as
 * with ours, but no relationship is checked. Prints its URL.
 *
 * @module
 */

import { createPublicKey, verify } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import OidcProvider from "oidc-provider";
import { ALGORITHMS, CALLBACK } from "./openid_clients.ts";

// It prints notices and warnings on the console, where only the URL may be.
const { log } = console;
console.info = console.warn = console.log = () => {};

const server = createServer();
await once(server.listen(0, "127.0.0.1"), "listening");
const { port } = server.address() as { port: number };
const origin = `http://127.0.0.1:${port}`;
const provider = new OidcProvider(origin, {
  clients: ALGORITHMS.map((alg) => ({
    client_id: alg,
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: "none" as const,
    id_token_signed_response_alg: alg,
  })),
  enabledJWA: { idTokenSigningAlgValues: [...ALGORITHMS] },
  jwks: {
    keys: await Promise.all(ALGORITHMS.map(async (alg) => {
      const { privateKey } = await generateKeyPair(alg, { extractable: true });
      // deno-lint-ignore no-explicit-any -- the packages declare a JWK differently
      return { ...await exportJWK(privateKey), alg, use: "sig" } as any;
    })),
  },
  cookies: { keys: ["test-cookie-key"] },
  claims: { openid: ["sub"], groups: ["groups"], profile: ["name"] },
  conformIdTokenClaims: false,
  features: { devInteractions: { enabled: false } },
  interactions: {
    url: (_ctx: unknown, { uid }: { uid: string }) => `/sign-in/${uid}`,
  },
  findAccount: (_ctx: unknown, accountId: string) => ({
    accountId,
    claims: () => ({ sub: accountId, groups: ["employee"], name: "u-1" }),
  }),
  pkce: { required: () => true },
});
const answer = provider.callback();
server.on("request", async (request, response) => {
  if (request.method !== "POST" || !request.url?.startsWith("/sign-in/")) {
    return answer(request, response);
  }
  const { x, signed, signature } = JSON.parse(await textOf(request));
  const key = { kty: "OKP", crv: "Ed25519", x };
  const bytes = Uint8Array.fromBase64(signature, { alphabet: "base64url" });
  const publicKey = createPublicKey({ key, format: "jwk" });
  if (!verify(null, new TextEncoder().encode(signed), publicKey, bytes)) {
    throw new Error("not verified");
  }
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({
    accountId: x,
    clientId: String(params.client_id),
  });
  grant.addOIDCScope("openid profile groups");
  const to = await provider.interactionResult(request, response, {
    login: { accountId: x },
    consent: { grantId: await grant.save() },
  });
  response.end(to);
});

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

log(origin);
