/**
 * Complete logins as a browser and an application make them, by a client that
 * costs little: prepared bytes over a kept connection.
 *
 * @module
 */
import { Person } from "../web/testdata/independent_client.ts";
import {
  type Answer,
  type Connection,
  getBytes,
  headerOf,
  postBytes,
} from "./http_client.ts";
import { CALLBACK } from "./servers/openid_clients.ts";

/** People who log in in turn: one with a hundred open sessions is nobody. */
export const PEOPLE: readonly Person[] = Array.from(
  { length: 300 },
  () => new Person(),
);
let turn = 0;

/** Whose turn it is. */
export function nextPerson(): Person {
  return PEOPLE[turn++ % PEOPLE.length]!;
}

const VERIFIER = "v".repeat(43);
const digest = new Uint8Array(
  await crypto.subtle.digest("SHA-256", new TextEncoder().encode(VERIFIER)),
);
const code_challenge = digest.toBase64({
  alphabet: "base64url",
  omitPadding: true,
});

/** What an application asks for. */
export function authorizeQuery(client_id: string, more = {}): string {
  return String(
    new URLSearchParams({
      ...{ client_id, redirect_uri: CALLBACK, response_type: "code" },
      ...{ scope: "openid profile groups", state: "s", nonce: "n" },
      ...{ code_challenge, code_challenge_method: "S256" },
      ...more,
    }),
  );
}

function require(answer: Answer, ...statuses: number[]): Answer {
  if (statuses.includes(answer.status)) return answer;
  throw new Error(`${answer.status} ${answer.body}`);
}

async function redeem(
  connection: Connection,
  url: URL,
  client_id: string,
  back: string,
): Promise<void> {
  const form = new URLSearchParams({
    ...{ grant_type: "authorization_code", client_id },
    code: new URL(back).searchParams.get("code")!,
    ...{ redirect_uri: CALLBACK, code_verifier: VERIFIER },
  });
  const type = "application/x-www-form-urlencoded";
  const answer = require(
    await connection.ask(
      postBytes(url, String(form), { "content-type": type }),
    ),
    200,
  );
  if (typeof JSON.parse(answer.body).id_token !== "string") {
    throw new Error("no login");
  }
}

/** A login at our provider: four requests. */
export async function logInToOwn(
  connection: Connection,
  origin: string,
  client_id: string,
): Promise<void> {
  const query = authorizeQuery(client_id);
  const begun = require(
    await connection.ask(
      getBytes(new URL(`${origin}/oidc/authorize?${query}`), {}),
    ),
    303,
  );
  const cookie = headerOf(begun, "set-cookie").split(";")[0]!;
  const id = headerOf(begun, "location").split("/").at(-1)!;
  const url = new URL(`${origin}/oidc/interaction/${id}`);
  const asked = require(await connection.ask(getBytes(url, { cookie })), 200);
  const { challenge } = JSON.parse(asked.body);
  const attestation = nextPerson().attest(challenge, Date.now());
  const answered = require(
    await connection.ask(
      postBytes(url, JSON.stringify({ attestation }), { cookie }),
    ),
    200,
  );
  const { redirect_to } = JSON.parse(answered.body);
  const token = new URL(`${origin}/oidc/token`);
  await redeem(connection, token, client_id, redirect_to);
}

/** The same at the server that is `oidc-provider`. */
export async function logInToOther(
  connection: Connection,
  origin: string,
  client_id: string,
): Promise<void> {
  const cookies = new Map<string, string>();
  const ask = async (address: string, body?: string) => {
    const cookie = Array.from(cookies, (pair) => pair.join("=")).join("; ");
    const headers = cookies.size > 0 ? { cookie } : {};
    const url = new URL(address, origin);
    const answer = require(
      await connection.ask(
        body === undefined
          ? getBytes(url, headers)
          : postBytes(url, body, headers),
      ),
      ...[200, 302, 303],
    );
    for (
      const [, name = "", value = ""] of answer.head.matchAll(
        /\r\nset-cookie: *([^=]+)=([^;\r]*)/gi,
      )
    ) cookies.set(name, value);
    return answer;
  };
  const begun = await ask(`/auth?${authorizeQuery(client_id)}`);
  const challenge = {
    ...{ challenge_id: "c", audience: origin, nonce: "n", scopes: [] },
    expires_at: new Date(Date.now() + 300_000).toISOString(),
  };
  const person = nextPerson();
  const text = person.attest(challenge, Date.now());
  const [head, payload, signature] = text.split(".");
  const signed = `${head}.${payload}`;
  const answered = await ask(
    headerOf(begun, "location"),
    JSON.stringify({ x: person.x, signed, signature }),
  );
  const back = headerOf(await ask(answered.body), "location");
  await redeem(connection, new URL(`${origin}/token`), client_id, back);
}
