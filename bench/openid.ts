/**
 * Complete logins of OpenID Connect (authorize, consent, answer, token) by each
 * algorithm, over HTTP, beside the same of `oidc-provider` and beside the bare
 * verification of a person's signature; the memory of both servers; what a flood
 * of requests and 100,000 sessions take. The person's signature and all that the
 * application does are part of the login's time.
 * Run: `deno run -A --v8-flags=--expose-gc bench/openid.ts`
 *
 * @module
 */
import { createPublicKey, verify } from "node:crypto";
import { createMemoryStore } from "@sig/web";
import { createSessions, randomText } from "../web/sessions/sessions.ts";
import { Connection } from "./http_client.ts";
import {
  authorizeQuery,
  logInToOther,
  logInToOwn,
  nextPerson,
  PEOPLE,
} from "./openid_logins.ts";
import { ALGORITHMS } from "./servers/openid_clients.ts";
import {
  memoryOf,
  type ProcessMemory,
  processorSeconds,
} from "./servers/process_figures.ts";
import { type Started, startServer } from "./servers/start.ts";

const LOGINS = 100;
const ROUNDS = 5;
/** Logins at once: a server that waits does not count. */
const AT_ONCE = 8;

async function rateOf(
  connections: readonly Connection[],
  work: (connection: Connection) => Promise<void>,
): Promise<number> {
  let left = LOGINS;
  const began = performance.now();
  await Promise.all(connections.map(async (connection) => {
    while (left-- > 0) await work(connection);
  }));
  return LOGINS / ((performance.now() - began) / 1000);
}

function bareRate(): number {
  const person = nextPerson();
  const publicKey = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: person.x },
    format: "jwk",
  });
  const text = person.attest(
    {
      ...{ challenge_id: "c", audience: "a", nonce: "n", scopes: [] },
      expires_at: new Date(Date.now() + 300_000).toISOString(),
    },
    Date.now(),
  );
  const [head, payload, signature] = text.split(".");
  const signed = new TextEncoder().encode(`${head}.${payload}`);
  const bytes = Uint8Array.fromBase64(signature!, { alphabet: "base64url" });
  const began = performance.now();
  for (let i = 0; i < LOGINS; i++) {
    if (!verify(null, signed, publicKey, bytes)) throw new Error("not so");
  }
  return LOGINS / ((performance.now() - began) / 1000);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

function shown({ resident, program }: ProcessMemory): string {
  const own = resident - program;
  return `${resident.toFixed(0)} MiB, ${own.toFixed(0)} but for the program`;
}

const own = await startServer("bench/servers/openid_own.ts");
const other = await startServer("bench/servers/openid_other.ts");
for (const { did: subject } of PEOPLE) {
  await (await fetch(`${own.url.origin}/demo/enrol`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ subject }),
  })).json();
}
console.log(`at rest: ${shown(await memoryOf(own.pid))}`);

const open = ({ url }: Started) =>
  Promise.all(Array.from({ length: AT_ONCE }, () => Connection.open(url)));
const toOwn = await open(own);
const toOther = await open(other);
for (const alg of ALGORITHMS) {
  const ours = () => rateOf(toOwn, (at) => logInToOwn(at, own.url.origin, alg));
  const theirs = () =>
    rateOf(toOther, (at) => logInToOther(at, other.url.origin, alg));
  await ours();
  await theirs();
  const rates: number[] = [];
  const beside: number[] = [];
  const ofBare: number[] = [];
  const before = [
    await processorSeconds(own.pid),
    await processorSeconds(other.pid),
  ] as const;
  for (let round = 0; round < ROUNDS; round++) {
    const rate = await ours();
    rates.push(rate);
    beside.push(rate / await theirs());
    ofBare.push(rate / bareRate());
  }
  const [work, theirWork] = [
    await processorSeconds(own.pid) - before[0],
    await processorSeconds(other.pid) - before[1],
  ];
  const perLogin = (work / (ROUNDS * LOGINS)) * 1000;
  console.log(
    `${alg}: ${median(rates).toFixed(0)} logins/s, ${
      median(beside).toFixed(2)
    } x oidc-provider, ${(median(ofBare) * 100).toFixed(1)} % of bare; ${
      perLogin.toFixed(2)
    } ms of processor a login, oidc-provider ${
      (theirWork / work).toFixed(2)
    } x that`,
  );
}
console.log(
  `after the logins: ${shown(await memoryOf(own.pid))}, oidc-provider ${
    shown(await memoryOf(other.pid))
  }`,
);
for (const connection of [...toOwn, ...toOther]) connection.close();
await other.stop();

// Requests that nobody answers, each as large as it may be.
const largest = { state: "s".repeat(2_048), nonce: "é".repeat(1_024) };
for (const [what, more] of [["usual", {}], ["largest", largest]] as const) {
  const query = authorizeQuery("RS256", more);
  const url = `${own.url.origin}/oidc/authorize?${query}`;
  let count = what === "usual" ? 10_000 : 15_000;
  const statuses = new Map<number, number>();
  await Promise.all(Array.from({ length: 16 }, async () => {
    while (count-- > 0) {
      const { status, body } = await fetch(url, { redirect: "manual" });
      await body?.cancel();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  }));
  const told = Array.from(statuses, ([status, n]) => `${n} x ${status}`);
  console.log(
    `flood of ${what} requests (${told}): ${shown(await memoryOf(own.pid))}`,
  );
}
await own.stop();

const { gc } = globalThis as { readonly gc?: () => void };
gc?.();
const before = Deno.memoryUsage().heapUsed;
const records = createMemoryStore();
const sessions = createSessions({
  store: records,
  lifeMs: 3_600_000,
  terms: {
    audience: "https://login.example",
    issuer: "did:web:acme.example",
    require: ["relationship=employee"],
  },
  tell: () => Promise.resolve(),
  now: () => new Date(),
});
const standing = {
  ...{ issuer: "did:web:acme.example", relationship_id: "r1" },
  ...{ type: "employee", roles: ["deploy"], sequence: 1 },
};
for (let i = 0; i < 100_000; i++) {
  const subject = `did:web:person-${i}.example`;
  const { session } = await sessions.logIn({ subject, standing });
  await sessions.join(session.sid, { clientId: "app", grant: randomText(16) });
}
gc?.();
const mebibytes = (Deno.memoryUsage().heapUsed - before) / 1024 ** 2;
console.log(`100,000 sessions: ${mebibytes.toFixed(0)} MiB`);
await records.close();
