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
import { createMemoryRecords } from "@sig/web";
import { createSessions, randomText } from "../web/sessions/sessions.ts";
import { Person } from "../web/testdata/independent_client.ts";
import { ALGORITHMS, CALLBACK } from "./servers/openid_clients.ts";
import {
  memoryOf,
  type ProcessMemory,
  processorSeconds,
} from "./servers/process_figures.ts";
import { startServer } from "./servers/start.ts";

const VERIFIER = "v".repeat(43);
const LOGINS = 100;
const ROUNDS = 5;
/** Logins at once: a server that waits does not count. */
const AT_ONCE = 8;

const digest = new Uint8Array(
  await crypto.subtle.digest("SHA-256", new TextEncoder().encode(VERIFIER)),
);
const code_challenge = digest.toBase64({
  alphabet: "base64url",
  omitPadding: true,
});
/** One person with a hundred open sessions is nobody. */
const people = Array.from({ length: 100 }, () => new Person());
let turn = 0;
const nextPerson = () => people[turn++ % people.length]!;

function authorizeUrl(path: string, client_id: string, more = {}): string {
  return `${path}?${new URLSearchParams({
    ...{ client_id, redirect_uri: CALLBACK, response_type: "code" },
    ...{ scope: "openid profile groups", state: "s", nonce: "n" },
    ...{ code_challenge, code_challenge_method: "S256" },
    ...more,
  })}`;
}

async function redeem(
  url: string,
  client_id: string,
  answer: string,
): Promise<void> {
  const tokens = await fetch(url, {
    method: "POST",
    body: new URLSearchParams({
      ...{ grant_type: "authorization_code", client_id },
      code: new URL(answer).searchParams.get("code")!,
      ...{ redirect_uri: CALLBACK, code_verifier: VERIFIER },
    }),
  });
  const { id_token } = await tokens.json();
  if (typeof id_token !== "string") throw new Error("no login");
}

async function logInToOwn(origin: string, client_id: string): Promise<void> {
  const begun = await fetch(
    authorizeUrl(`${origin}/oidc/authorize`, client_id),
    { redirect: "manual" },
  );
  await begun.body?.cancel();
  const cookie = begun.headers.get("set-cookie")!.split(";")[0]!;
  const id = begun.headers.get("location")!.split("/").at(-1)!;
  const url = `${origin}/oidc/interaction/${id}`;
  const { challenge } = await (await fetch(url, { headers: { cookie } }))
    .json();
  const answered = await fetch(url, {
    method: "POST",
    headers: { cookie, "content-type": "application/json" },
    body: JSON.stringify({
      attestation: nextPerson().attest(challenge, Date.now()),
    }),
  });
  const { redirect_to } = await answered.json();
  await redeem(`${origin}/oidc/token`, client_id, redirect_to);
}

async function logInToOther(origin: string, client_id: string): Promise<void> {
  const cookies = new Map<string, string>();
  const ask = async (url: string, init: RequestInit = {}) => {
    const cookie = Array.from(cookies, (pair) => pair.join("=")).join("; ");
    const response = await fetch(new URL(url, origin), {
      ...init,
      headers: { cookie },
      redirect: "manual",
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return {
      text: await response.text(),
      location: response.headers.get("location") ?? "",
    };
  };
  const begun = await ask(authorizeUrl("/auth", client_id));
  const challenge = {
    ...{ challenge_id: "c", audience: origin, nonce: "n", scopes: [] },
    expires_at: new Date(Date.now() + 300_000).toISOString(),
  };
  const person = nextPerson();
  const text = person.attest(challenge, Date.now());
  const [head, payload, signature] = text.split(".");
  const signed = `${head}.${payload}`;
  const answered = await ask(begun.location, {
    method: "POST",
    body: JSON.stringify({ x: person.x, signed, signature }),
  });
  const { location } = await ask(answered.text);
  await redeem(`${origin}/token`, client_id, location);
}

async function rateOf(work: () => Promise<void>): Promise<number> {
  let left = LOGINS;
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (left-- > 0) await work();
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
for (const { did: subject } of people) {
  await (await fetch(`${own.url.origin}/demo/enrol`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ subject }),
  })).json();
}
console.log(`at rest: ${shown(await memoryOf(own.pid))}`);

for (const alg of ALGORITHMS) {
  const ours = () => logInToOwn(own.url.origin, alg);
  const theirs = () => logInToOther(other.url.origin, alg);
  await rateOf(ours);
  await rateOf(theirs);
  const rates: number[] = [];
  const beside: number[] = [];
  const ofBare: number[] = [];
  const before = [
    await processorSeconds(own.pid),
    await processorSeconds(other.pid),
  ] as const;
  for (let round = 0; round < ROUNDS; round++) {
    const rate = await rateOf(ours);
    rates.push(rate);
    beside.push(rate / await rateOf(theirs));
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
await other.stop();

// Requests that nobody answers, each as large as it may be.
const largest = { state: "s".repeat(2_048), nonce: "é".repeat(1_024) };
for (const [what, more] of [["usual", {}], ["largest", largest]] as const) {
  const url = authorizeUrl(`${own.url.origin}/oidc/authorize`, "RS256", more);
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
const records = createMemoryRecords();
const sessions = createSessions({
  store: records,
  lifeMs: 3_600_000,
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
