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
import { createSessions } from "../web/sessions/sessions.ts";
import { Person } from "../web/testdata/independent_client.ts";
import { ALGORITHMS, CALLBACK } from "./servers/openid_clients.ts";
import { type Started, startServer } from "./servers/start.ts";

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
const person = new Person();

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
    body: JSON.stringify({ attestation: person.attest(challenge, Date.now()) }),
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

async function memoryOf({ pid }: Started): Promise<string> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(status) ?? [];
  return `${(Number(kilobytes) / 1024).toFixed(0)} MiB`;
}

/** Seconds of processor time that a server has taken. */
async function workOf({ pid }: Started): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Ticks of a hundredth: utime and stime.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const own = await startServer("bench/servers/openid_own.ts");
const other = await startServer("bench/servers/openid_other.ts");
await (await fetch(`${own.url.origin}/demo/enrol`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ subject: person.did }),
})).json();
console.log(`at rest: ${await memoryOf(own)}`);

for (const alg of ALGORITHMS) {
  const ours = () => logInToOwn(own.url.origin, alg);
  const theirs = () => logInToOther(other.url.origin, alg);
  await rateOf(ours);
  await rateOf(theirs);
  const rates: number[] = [];
  const beside: number[] = [];
  const ofBare: number[] = [];
  const before = [await workOf(own), await workOf(other)] as const;
  for (let round = 0; round < ROUNDS; round++) {
    const rate = await rateOf(ours);
    rates.push(rate);
    beside.push(rate / await rateOf(theirs));
    ofBare.push(rate / bareRate());
  }
  const [work, theirWork] = [
    await workOf(own) - before[0],
    await workOf(other) - before[1],
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
  `after the logins: ${await memoryOf(own)}, oidc-provider ${await memoryOf(
    other,
  )}`,
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
  console.log(`flood of ${what} requests (${told}): ${await memoryOf(own)}`);
}
await own.stop();

const { gc } = globalThis as { readonly gc?: () => void };
gc?.();
const before = Deno.memoryUsage().heapUsed;
const records = createMemoryRecords();
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
  await sessions.join(session.sid, "app");
}
gc?.();
const mebibytes = (Deno.memoryUsage().heapUsed - before) / 1024 ** 2;
console.log(`100,000 sessions: ${mebibytes.toFixed(0)} MiB`);
await records.close();
