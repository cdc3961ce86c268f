/**
 * Goal 6. Complete logins with OpenID Connect (authorize, consent, answer,
 * token) for each algorithm, over HTTP, compared with `oidc-provider` (at least
 * 1.5 × its rate with RS256, 2 × with EdDSA). Linux only.
 *
 * @module
 */

import { Person } from "../web/testdata/independent_client.ts";
import {
  type Answer,
  type Connection,
  getBytes,
  headerOf,
  openConnections,
  postBytes,
} from "./http_client.ts";
import { alternate, median } from "./pairs.ts";
import { ALGORITHMS, CALLBACK } from "./servers/openid_clients.ts";
import { type Started, startServer } from "./servers/start.ts";

const LOGINS = 100;
const ROUNDS = 5;
/** Concurrent logins, so that waiting of a server has no effect. */
const CONCURRENT = 8;

/**
 * The number of people who log in in turn; a hundred open sessions of one
 * person are not realistic.
 */
const PEOPLE = Array.from({ length: 300 }, () => new Person());
let turn = 0;
const nextPerson = () => PEOPLE[turn++ % PEOPLE.length]!;

const VERIFIER = "v".repeat(43);
const digest = new Uint8Array(
  await crypto.subtle.digest("SHA-256", new TextEncoder().encode(VERIFIER)),
);
const code_challenge = digest.toBase64({
  alphabet: "base64url",
  omitPadding: true,
});

/** The authorization request of an application. */
function authorizeQuery(client_id: string): string {
  return String(
    new URLSearchParams({
      ...{ client_id, redirect_uri: CALLBACK, response_type: "code" },
      ...{ scope: "openid profile groups", state: "s", nonce: "n" },
      ...{ code_challenge, code_challenge_method: "S256" },
    }),
  );
}

/** A browser, with its cookies, and an application on one connection. */
class Client {
  readonly #connection: Connection;
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  constructor(connection: Connection, { url }: Started) {
    this.#connection = connection;
    this.#origin = url.origin;
  }

  async ask(address: string, body?: string, type?: string): Promise<Answer> {
    const cookie = Array.from(this.#cookies, (pair) => pair.join("="));
    const headers: Record<string, string> = cookie.length > 0
      ? { cookie: cookie.join("; ") }
      : {};
    if (type !== undefined) headers["content-type"] = type;
    const url = new URL(address, this.#origin);
    const answer = await this.#connection.ask(
      body === undefined
        ? getBytes(url, headers)
        : postBytes(url, body, headers),
    );
    if (![200, 302, 303].includes(answer.status)) {
      throw new Error(`${answer.status} ${answer.body}`);
    }
    const set = answer.head.matchAll(/\r\nset-cookie: *([^=]+)=([^;\r]*)/gi);
    for (const [, name = "", value = ""] of set) this.#cookies.set(name, value);
    return answer;
  }

  async redeem(path: string, client_id: string, back: string): Promise<void> {
    const form = new URLSearchParams({
      ...{ grant_type: "authorization_code", client_id },
      code: new URL(back).searchParams.get("code")!,
      ...{ redirect_uri: CALLBACK, code_verifier: VERIFIER },
    });
    const type = "application/x-www-form-urlencoded";
    const { body } = await this.ask(path, String(form), type);
    if (typeof JSON.parse(body).id_token !== "string") throw new Error(body);
  }
}

type LogIn = (client: Client, client_id: string) => Promise<void>;

/** Logs in at our provider. */
const logInToOwn: LogIn = async (client, client_id) => {
  const begun = await client.ask(
    `/oidc/authorize?${authorizeQuery(client_id)}`,
  );
  const id = headerOf(begun, "location").split("/").at(-1)!;
  const path = `/oidc/interaction/${id}`;
  const { challenge } = JSON.parse((await client.ask(path)).body);
  const attestation = nextPerson().attest(challenge, Date.now());
  const answered = await client.ask(path, JSON.stringify({ attestation }));
  const { redirect_to } = JSON.parse(answered.body);
  await client.redeem("/oidc/token", client_id, redirect_to);
};

/** Logs in at the server with `oidc-provider`. */
const logInToOther: LogIn = async (client, client_id) => {
  const begun = await client.ask(`/auth?${authorizeQuery(client_id)}`);
  const challenge = {
    ...{ challenge_id: "c", audience: "a", nonce: "n", scopes: [] },
    expires_at: new Date(Date.now() + 300_000).toISOString(),
  };
  const person = nextPerson();
  const [head, payload, signature] = person.attest(challenge, Date.now())
    .split(".");
  const answered = await client.ask(
    headerOf(begun, "location"),
    JSON.stringify({ x: person.x, signed: `${head}.${payload}`, signature }),
  );
  const back = headerOf(await client.ask(answered.body), "location");
  await client.redeem("/token", client_id, back);
};

/** Returns logins per second, and the server's CPU time for each. */
async function measure(
  server: Started,
  connections: readonly Connection[],
  logIn: LogIn,
  alg: string,
) {
  let left = LOGINS;
  const before = await server.processorMs();
  const began = performance.now();
  await Promise.all(connections.map(async (connection) => {
    while (left-- > 0) await logIn(new Client(connection, server), alg);
  }));
  return {
    rate: LOGINS / ((performance.now() - began) / 1000),
    ms: (await server.processorMs() - before) / LOGINS,
  };
}

const own = await startServer("bench/servers/openid_own.ts");
const other = await startServer("bench/servers/openid_other.ts");
for (const { did: subject } of PEOPLE) {
  await (await fetch(`${own.url.origin}/enrol`, {
    method: "POST",
    body: subject,
  })).bytes();
}
const toOwn = await openConnections(own.url, CONCURRENT);
const toOther = await openConnections(other.url, CONCURRENT);
for (const alg of ALGORITHMS) {
  const ours = () => measure(own, toOwn, logInToOwn, alg);
  const theirs = () => measure(other, toOther, logInToOther, alg);
  const [as = [], bs = []] = await alternate([ours, theirs], ROUNDS);
  const ratio = median(as.map((a, i) => a.rate / bs[i]!.rate));
  const work = median(as.map((a, i) => bs[i]!.ms / a.ms));
  console.log(
    `${alg}: ${median(as.map((a) => a.rate)).toFixed(0)} logins/s, ${
      ratio.toFixed(2)
    } × oidc-provider, by CPU time ${work.toFixed(2)} ×`,
  );
}
console.log("(goals: RS256 at least 1.5, EdDSA at least 2)");
for (const connection of [...toOwn, ...toOther]) connection.close();
await own.stop();
await other.stop();
