import { assertEquals } from "@std/assert";
import { createServer } from "node:http";
import OidcProvider from "oidc-provider";
import {
  CALLBACK,
  sha256,
  TestProvider,
  VERIFIER,
} from "./testdata/test_provider.ts";

/** oidc-provider only accepts ASCII secrets. */
const SECRET = "test-secret-4w7Xc0mYp2";

/** Starts `oidc-provider` with the same configuration and application. */
async function startOther() {
  const server = createServer();
  const port = await new Promise<number>((resolve) =>
    server.listen(
      0,
      "127.0.0.1",
      () => resolve((server.address() as { port: number }).port),
    )
  );
  const origin = `http://127.0.0.1:${port}`;
  const provider = new OidcProvider(origin, {
    clients: [{
      client_id: "app",
      client_secret: SECRET,
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: "client_secret_post",
    }],
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    pkce: { required: () => true },
  });
  server.on("request", provider.callback());
  return {
    origin,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

/**
 * Silences the console, to which `oidc-provider` writes notices and warnings.
 */
async function quietly(work: () => Promise<void>): Promise<void> {
  const { info, warn, log, error } = console;
  const none = () => {};
  Object.assign(console, { info: none, warn: none, log: none, error: none });
  try {
    await work();
  } finally {
    Object.assign(console, { info, warn, log, error });
  }
}

/** Requests to the token endpoint that both must reject in the same way. */
const REFUSED: readonly (readonly [string, Record<string, string>])[] = [
  ["an unknown code", {}],
  ["an unknown client", { client_id: "nobody" }],
  ["a wrong secret", { client_secret: "x" }],
  ["no grant_type", { grant_type: "" }],
  ["another grant_type", { grant_type: "password" }],
  ["no code", { code: "" }],
];

Deno.test({
  name: "metadata and errors have the same types as those of oidc-provider",
  // oidc-provider leaves timers running.
  sanitizeOps: false,
  sanitizeResources: false,
  fn: () =>
    quietly(async () => {
      await using ours = await TestProvider.start({
        clients: [{
          client_id: "app",
          client_secret_sha256: await sha256(SECRET),
          token_endpoint_auth_method: "client_secret_post",
          redirect_uris: [CALLBACK],
        }],
      });
      await using other = await startOther();
      const discover = async (origin: string) => {
        const url = `${origin}/.well-known/openid-configuration`;
        return await (await fetch(url)).json();
      };
      const typeOf = (value: unknown) =>
        Array.isArray(value) ? `list of ${typeof value[0]}` : typeof value;
      const [own, theirs] = [
        await discover(ours.origin),
        await discover(other.origin),
      ];
      const shapes = Object.entries(own).map(([name, value]) => [
        name,
        typeOf(value),
      ]);
      const expected = shapes.map(([name, type]) => [
        name,
        NOT_THEIRS.includes(name!) ? type : typeOf(theirs[name!]),
      ]);
      assertEquals(shapes, expected);

      for (const [what, changes] of REFUSED) {
        const body = new URLSearchParams({
          grant_type: "authorization_code",
          code: "unknown",
          redirect_uri: CALLBACK,
          code_verifier: VERIFIER,
          client_id: "app",
          client_secret: SECRET,
          ...changes,
        });
        const answers = [];
        for (const { token_endpoint } of [own, theirs]) {
          const response = await fetch(token_endpoint, {
            method: "POST",
            body,
          });
          const { error } = await response.json();
          const cache = response.headers.get("cache-control");
          answers.push([what, response.status, error, cache]);
        }
        assertEquals(answers[0], answers[1]);
      }

      const unauthorized = [];
      for (const { userinfo_endpoint } of [own, theirs]) {
        const response = await fetch(userinfo_endpoint, {
          headers: { authorization: "Bearer unknown" },
        });
        const { error } = await response.json();
        unauthorized.push([response.status, error]);
      }
      assertEquals(unauthorized[0], unauthorized[1]);
    }),
});

/**
 * Members that oidc-provider lacks, from RFC 8414 §2, OpenID Connect Discovery
 * §3 and Prompt Create §4.
 */
const NOT_THEIRS: readonly string[] = [
  "prompt_values_supported",
  "revocation_endpoint_auth_methods_supported",
  "revocation_endpoint_auth_signing_alg_values_supported",
  "request_parameter_supported",
];
