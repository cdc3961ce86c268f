/** Attacks on forward auth. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  cookieAt,
  statusOf,
  TestProvider,
} from "../openid/testdata/test_provider.ts";
import { OAuthError } from "../sign_in/oauth.ts";
import { createGateHosts, readGateQuery } from "./hosts.ts";
import { GATE_CODE } from "../store/kinds.ts";
import { Visitor } from "./testdata/visitor.ts";

// promise: Forward auth: codes and cookies are valid at one host; redirects go
//   to configured hosts.

const WIKI = "wiki.example";
const OPS = "ops.example";
const PAGE = `http://${WIKI}/`;

function start() {
  return TestProvider.start({
    settings: { gateHosts: [WIKI, OPS], gateMaxAgeMs: 0 },
  });
}

async function assertRefused(visitor: Visitor, url: string, says: string) {
  const { refusal = "", steps } = await visitor.walk(url);
  assertStringIncludes(refusal, says, `not refused: ${steps.join(" ")}`);
}

/** Values of rd that lead to no configured host. */
const EVIL = [
  "",
  "/",
  "//evil.example/",
  "http://evil.example/",
  "https://wiki.example/",
  "http://wiki.example@evil.example/",
  "http://wiki.example:81/",
  "http://user@wiki.example/",
  "http://wiki.example.evil.example/",
  "http://evil.example%23@wiki.example/",
  "http://evil.example\\@wiki.example/",
  "http:%5C%5Cevil.example/",
  "javascript:alert(1)",
  "http%3A%2F%2Fevil.example",
  "http%3A%2F%2Fwiki.example%40evil.example%2F",
  "http%3a%2f%2f%E0%A4",
  `http://${WIKI}/${"a".repeat(5_000)}`,
  "http%253A%252F%252Fwiki.example",
  "http://wiki.example.:80/",
  "http://ＷＩＫＩ．example.evil/",
];

Deno.test("attack: rejects an rd to another host", () => {
  const hosts = createGateHosts([WIKI], "http://login.example");
  for (const rd of EVIL) {
    for (const query of [`rd=${rd}`, `rd=${rd}&rd=${PAGE}`, `x=1&rd=${rd}`]) {
      const url = `http://login.example/gate/login?${query}`;
      const error = assertThrows(() => readGateQuery(url, hosts), OAuthError);
      assertMatch(
        error.message,
        /rd is not a URL of a configured host|rd is not percent-encoded/,
      );
    }
  }
});

Deno.test("attack: only one of eight concurrent uses of a code gets a cookie", async () => {
  await using provider = await start();
  const { visitor } = await Visitor.logIn(provider, PAGE);
  // The login knows the browser now, so this is another, unused code.
  const { search } = new URL(await boundCode(visitor));
  const statuses = await Promise.all(
    Array.from(
      { length: 8 },
      () => statusOf(visitor.through(WIKI, `/_sig/return${search}`)),
    ),
  );
  assertEquals(statuses.toSorted(), [303, ...Array(7).fill(400)]);
});

/** Returns a link with a code that is bound to this browser. */
async function boundCode(visitor: Visitor): Promise<string> {
  const { host, search } = await visitor.login.follow(visitor.gate(PAGE));
  const begun = await visitor.through(host, `/_sig/return${search}`);
  await begun.body?.cancel();
  return (await visitor.login.follow(begun.headers.get("location") ?? "")).href;
}

Deno.test("attack: using a code at another host fails and consumes the code", async () => {
  await using provider = await start();
  const { visitor } = await Visitor.logIn(provider, PAGE);
  const bound = new URL(await boundCode(visitor));
  const code = bound.searchParams.get("code") ?? "";
  const elsewhere = `http://${OPS}/_sig/return?code=${code}&rd=http://${OPS}/`;
  await assertRefused(visitor, elsewhere, "the code is invalid");
  await assertRefused(visitor, bound.href, "the code is invalid");
  assertEquals((await visitor.ask(OPS)).status, 401);
});

Deno.test("attack: a host's cookie is invalid at other hosts and at the login", async () => {
  await using provider = await start();
  const { visitor } = await Visitor.logIn(provider, PAGE);
  await visitor.walk(visitor.gate(`http://${OPS}/`));
  const stolen = visitor.at(WIKI).cookies.get("sig-gate") ?? "";
  assert(stolen !== "");
  const thief = new Visitor(provider);
  thief.at(OPS).cookies.set("sig-gate", stolen);
  assertEquals((await thief.ask(OPS)).status, 401);
  for (const name of ["sig-gate", cookieAt("sig-session", provider)]) {
    thief.login.cookies.set(name, stolen);
  }
  assertEquals(
    (await thief.walk(thief.gate(PAGE))).url.hash.slice(0, 10),
    "#/sign-in/",
  );
  const asked = thief.login.send(`${provider.origin}/forward-auth`);
  assertEquals(await statusOf(asked), 401);
  // The cookie is valid at its own host; proxies overwrite this header.
  thief.at(WIKI).cookies.set("sig-gate", stolen);
  assertEquals((await thief.ask(WIKI)).status, 200);
});

Deno.test("attack: a link with the attacker's code does not log a victim in as the attacker", async () => {
  await using provider = await start();
  const { person: attacker } = await provider.employ();
  const { person: victim } = await provider.employ();
  const theirs = new Visitor(provider);
  await theirs.logIn(attacker, PAGE);
  // A code that is not bound to a browser.
  const loose = await theirs.login.follow(theirs.gate(PAGE));
  const stranger = new Visitor(provider);
  const { url } = await stranger.walk(loose.href);
  assertMatch(url.hash, /^#\/sign-in\//);
  assertEquals((await stranger.ask(WIKI)).status, 401);
  // A code that is bound to the attacker's browser.
  const bound = await boundCode(theirs);
  await assertRefused(stranger, bound, "another browser started this login");
  assertEquals((await stranger.ask(WIKI)).status, 401);
  // A victim who is logged in keeps their own identity.
  const third = await theirs.login.follow(theirs.gate(PAGE));
  const employee = new Visitor(provider);
  await employee.logIn(victim, PAGE);
  await employee.walk(third.href);
  assertEquals(
    (await employee.ask(WIKI)).headers.get("remote-user"),
    victim.did,
  );
});

Deno.test("attack: cookies from before a login are invalid after it", async () => {
  await using provider = await start();
  const { person } = await provider.employ();
  const visitor = new Visitor(provider);
  const fixed = `${"A".repeat(22)}.${"A".repeat(43)}`;
  visitor.at(WIKI).cookies.set("sig-gate", fixed);
  await visitor.logIn(person, PAGE);
  assert(visitor.at(WIKI).cookies.get("sig-gate") !== fixed);
  // Logging in again invalidates the cookies of the hosts.
  const again = await provider.authorizeUrl({ prompt: "login" });
  await visitor.login.signIn(provider, person, again);
  assertEquals((await visitor.ask(WIKI)).status, 401);
  const { url } = await visitor.walk(visitor.gate(PAGE));
  assertEquals(url.href, PAGE);
  assertEquals((await visitor.ask(WIKI)).status, 200);
});

Deno.test("attack: rejects an rd to a host other than the requested one", async () => {
  await using provider = await start();
  const { visitor } = await Visitor.logIn(provider, PAGE);
  const ask = async (host: string, rd: string) => {
    const code = await visitor.login.codeAt(visitor.gate(PAGE));
    const path = `/_sig/return?code=${code}&rd=${rd}`;
    const response = await visitor.through(host, path);
    return [await statusOf(response), response.headers.get("location")];
  };
  for (
    const [host, rd] of [
      [WIKI, `http://${OPS}/`],
      [WIKI, "http://evil.example/"],
      ["evil.example", PAGE],
      [new URL(provider.origin).host, `${provider.origin}/`],
    ] as const
  ) {
    assertEquals(await ask(host, rd), [400, null], `${host} ${rd}`);
  }
});

Deno.test("attack: a protected host can't use OpenID Connect: no code, no token", async () => {
  await using provider = await start();
  const { visitor } = await Visitor.logIn(provider, PAGE);
  const client_id = `gate:${WIKI}`;
  const { text } = await visitor.login.ask(
    await provider.authorizeUrl({ client_id, redirect_uri: PAGE }),
  );
  assertStringIncludes(text, "unknown client_id");
  const token = await provider.redeem("x", { client_id, client_secret: "" });
  assertEquals(token.body.error, "invalid_client");
});

Deno.test("attack: a code expires after 60 seconds and with its session", async () => {
  await using provider = await start();
  const { visitor, relationship } = await Visitor.logIn(provider, PAGE);
  const [bound, other] = [await boundCode(visitor), await boundCode(visitor)];
  provider.skewMs = 61_000;
  await assertRefused(visitor, bound, "the code is invalid");
  provider.skewMs = 0;
  await provider.demo.revoke(relationship);
  await provider.watch();
  await assertRefused(visitor, other, "the session has ended");
});

Deno.test("attack: a person's codes displace that person's own, not those of colleagues", async () => {
  await using provider = await start();
  const { visitor } = await Visitor.logIn(provider, PAGE);
  const { visitor: colleague } = await Visitor.logIn(provider, PAGE);
  const codeOf = ({ login, gate }: Visitor) => login.follow(gate(PAGE));
  const theirs = await codeOf(colleague);
  const first = await codeOf(visitor);
  for (let i = 0; i < 70; i++) await codeOf(visitor);
  const { records } = await provider.store.list(GATE_CODE, provider.now());
  assertEquals(records.length, 64 + 1);
  const use = ({ pathname, search }: URL) =>
    statusOf(colleague.through(WIKI, pathname + search));
  assertEquals([await use(theirs), await use(first)], [303, 400]);
});
