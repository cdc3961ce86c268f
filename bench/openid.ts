/**
 * Complete logins of OpenID Connect (authorize, consent, answer, token) by each
 * algorithm, in one process, against the bare verification of a person's
 * signature; and what 100,000 sessions take. The person's signature and the
 * application's digest are part of the login's time.
 * Run: `deno run -A --v8-flags=--expose-gc bench/openid.ts`
 *
 * @module
 */
import { createPublicKey, verify } from "node:crypto";
import { createWeb } from "../web/app.ts";
import { createDemoIssuer } from "../web/demo/demo_issuer.ts";
import { generateProviderKeys, readProviderKeys } from "@sig/web";
import { createMemoryRecords, readClients } from "@sig/web";
import { createSessions } from "../web/sessions/sessions.ts";
import { Person } from "../web/testdata/independent_client.ts";

const ORIGIN = "http://127.0.0.1:8788";
const CALLBACK = "https://app.example/callback";
const VERIFIER = "v".repeat(43);
const LOGINS = 200;
const ROUNDS = 5;
const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;
const now = () => new Date();

const digest = new Uint8Array(
  await crypto.subtle.digest("SHA-256", new TextEncoder().encode(VERIFIER)),
);
const code_challenge = digest.toBase64({
  alphabet: "base64url",
  omitPadding: true,
});
const demo = await createDemoIssuer({ origin: ORIGIN, now });
const person = new Person();
await demo.enrol(person.did);
const clients = readClients(JSON.stringify({
  clients: ALGORITHMS.map((alg) => ({
    client_id: alg,
    redirect_uris: [CALLBACK],
    id_token_signed_response_alg: alg,
  })),
}));
const { app } = createWeb({
  audiences: [ORIGIN],
  demo,
  // A login is timed here, not the reading of a feed.
  maxAgeMs: 60_000,
  openid: {
    clients: () => clients,
    keys: await readProviderKeys(await generateProviderKeys()),
    records: createMemoryRecords(),
  },
});

async function logIn(client_id: string): Promise<void> {
  const query = new URLSearchParams({
    ...{ client_id, redirect_uri: CALLBACK, response_type: "code" },
    ...{ scope: "openid profile groups", state: "s", nonce: "n" },
    ...{ code_challenge, code_challenge_method: "S256" },
  });
  const begun = await app.fetch(
    new Request(`${ORIGIN}/oidc/authorize?${query}`),
  );
  const cookie = begun.headers.get("set-cookie")!.split(";")[0]!;
  const id = begun.headers.get("location")!.split("/").at(-1)!;
  const url = `${ORIGIN}/oidc/interaction/${id}`;
  const asked = await app.fetch(new Request(url, { headers: { cookie } }));
  const { challenge } = await asked.json();
  const attestation = person.attest(challenge, Date.now());
  const answered = await app.fetch(
    new Request(url, {
      method: "POST",
      headers: { cookie, "content-type": "application/json" },
      body: JSON.stringify({ attestation }),
    }),
  );
  const { redirect_to } = await answered.json();
  const code = new URL(redirect_to).searchParams.get("code")!;
  const tokens = await app.fetch(
    new Request(`${ORIGIN}/oidc/token`, {
      method: "POST",
      body: new URLSearchParams({
        ...{ grant_type: "authorization_code", client_id, code },
        ...{ redirect_uri: CALLBACK, code_verifier: VERIFIER },
      }),
    }),
  );
  const { id_token } = await tokens.json();
  if (typeof id_token !== "string") throw new Error("no login");
}

async function rateOf(work: () => unknown): Promise<number> {
  const began = performance.now();
  for (let i = 0; i < LOGINS; i++) await work();
  return LOGINS / ((performance.now() - began) / 1000);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

const publicKey = createPublicKey({
  key: { kty: "OKP", crv: "Ed25519", x: person.x },
  format: "jwk",
});
const text = person.attest(
  {
    ...{ challenge_id: "c", audience: ORIGIN, nonce: "n", scopes: [] },
    expires_at: new Date(Date.now() + 300_000).toISOString(),
  },
  Date.now(),
);
const [head, payload, signature] = text.split(".");
const signed = new TextEncoder().encode(`${head}.${payload}`);
const bytes = Uint8Array.fromBase64(signature!, { alphabet: "base64url" });
const bare = () => {
  if (!verify(null, signed, publicKey, bytes)) throw new Error("not verified");
};

for (const alg of ALGORITHMS) {
  await logIn(alg);
  const rates: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const own = await rateOf(() => logIn(alg));
    rates.push(own);
    ratios.push(own / await rateOf(bare));
  }
  const percent = (median(ratios) * 100).toFixed(1);
  console.log(
    `${alg}: ${median(rates).toFixed(0)} logins/s, ${percent} % of bare`,
  );
}

const { gc } = globalThis as { readonly gc?: () => void };
gc?.();
const before = Deno.memoryUsage().heapUsed;
const records = createMemoryRecords();
const sessions = createSessions({
  store: records,
  lifeMs: 3_600_000,
  tell: () => Promise.resolve(),
  now,
});
const standing = {
  ...{ issuer: demo.did, relationship_id: "r1", type: "employee" },
  ...{ roles: ["deploy"], sequence: 1 },
};
for (let i = 0; i < 100_000; i++) {
  const subject = `did:web:person-${i}.example`;
  const { session } = await sessions.logIn({ subject, standing });
  await sessions.join(session.sid, "app");
}
gc?.();
const mebibytes = (Deno.memoryUsage().heapUsed - before) / 1024 ** 2;
console.log(`100,000 sessions: ${mebibytes.toFixed(0)} MiB`);
await records.close();
