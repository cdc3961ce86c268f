import { assert, assertEquals, assertMatch } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { identityHeaders } from "./forward_auth.ts";
import { createGateHosts } from "./hosts.ts";
import {
  Browser,
  statusOf,
  TestProvider,
} from "../openid/testdata/test_provider.ts";
import { Person } from "../testdata/independent_client.ts";
import { Visitor } from "./testdata/visitor.ts";

const WIKI = "wiki.example";
const OPS = "ops.example:8443";
const PAGE = `http://${WIKI}/a%2Fb?x=1&y=%26#top`;
const SHOWN = `http://${WIKI}/a%2Fb?x=1&y=%26`;

function start(settings: Record<string, unknown> = {}) {
  return TestProvider.start({
    settings: { gateHosts: [WIKI, OPS], gateMaxAgeMs: 0, ...settings },
  });
}

Deno.test("a login leads back to the page, and the proxy gets the person's identity, whichever key signed", async () => {
  const names = new Map<string, string>();
  const nameOf = (subject: string) => names.get(subject);
  await using provider = await start({ nameOf });
  const { person: laptop, relationship } = await provider.employ();
  names.set(laptop.did, "Zoë");
  const phone = new Person();
  await provider.demo.enrol(phone.did, undefined, laptop.did);
  // The person's DID is that of the first key, even after its relationship.
  await provider.demo.revoke(relationship);
  const visitor = new Visitor(provider);
  // Identity headers of a request never appear in the response.
  const forged = { "remote-user": "did:web:ceo.example", "remote-groups": "x" };
  const out = await visitor.ask(WIKI, forged);
  assertEquals([out.status, out.headers.get("remote-user")], [401, null]);
  const { url, steps } = await visitor.logIn(phone, PAGE);
  assertEquals(url.href, SHOWN);
  const back = `http://${WIKI}/_sig/return?code=`;
  assert(steps.some((each) => each.startsWith(back)));
  const { status, headers } = await visitor.ask(WIKI, forged);
  assertEquals(status, 200);
  assertEquals(headers.get("remote-user"), laptop.did);
  assertEquals(headers.get("remote-groups"), "employee,role:deploy");
  const name = headers.get("remote-name") ?? "";
  const bytes = Uint8Array.from(name, (each) => each.charCodeAt(0));
  assertEquals(new TextDecoder().decode(bytes), "Zoë");
  // The second host needs no further signature.
  const ops = visitor.gate(encodeURIComponent(`http://${OPS}/`));
  assertEquals((await visitor.walk(ops)).url.href, `http://${OPS}/`);
  assertEquals((await visitor.ask(OPS)).status, 200);
  // The operator's own hosts are not among the consents.
  const listed = await visitor.login.ask(`${provider.origin}/oidc/consents`);
  assertEquals(listed.body, { subject: phone.did, consents: [] });
});

Deno.test("two applications on different ports of a host have separate cookies", async () => {
  const hosts = ["apps.example:8001", "apps.example:8002"];
  await using provider = await start({ gateHosts: hosts });
  const { visitor } = await Visitor.logIn(provider, `http://${hosts[0]}/`);
  const second = encodeURIComponent(`http://${hosts[1]}/`);
  await visitor.walk(visitor.gate(second));
  // Browsers send every cookie of a host to all of its ports, and keep the
  // newer of two with the same name.
  const all = hosts.flatMap((host) => [...visitor.at(host).cookies]);
  for (const host of hosts) {
    for (const [name, value] of all) visitor.at(host).cookies.set(name, value);
    assertEquals((await visitor.ask(host)).status, 200, host);
  }
});

Deno.test("on any port of the login's own host the session cookie suffices, without a code", async () => {
  await using provider = await start({ gateHosts: ["127.0.0.1:8443"] });
  const { person } = await provider.employ();
  const visitor = new Visitor(provider);
  const { url, steps } = await visitor.logIn(person, "http://127.0.0.1:8443/x");
  assertEquals(url.href, "http://127.0.0.1:8443/x");
  assertEquals(steps.filter((each) => each.includes("/_sig/")), []);
  const ask = (headers: Record<string, string>) =>
    visitor.login.send(`${provider.origin}/forward-auth`, { headers });
  for (
    const [host, status] of [
      ["127.0.0.1:8443", 200],
      [new URL(provider.origin).host, 200],
      // The same cookie is invalid under another host name.
      ["wiki.example", 401],
    ] as const
  ) {
    assertEquals(await statusOf(ask({ "x-forwarded-host": host })), status);
  }
});

Deno.test("a revocation denies access at the next request, or where answers may be old at the next watch", async () => {
  for (const gateMaxAgeMs of [0, 600_000]) {
    await using provider = await start({ gateMaxAgeMs });
    const { visitor, relationship } = await Visitor.logIn(provider, PAGE);
    assertEquals((await visitor.ask(WIKI)).status, 200);
    await provider.demo.revoke(relationship);
    if (gateMaxAgeMs > 0) {
      assertEquals((await visitor.ask(WIKI)).status, 200);
      await provider.watch();
    }
    assertEquals((await visitor.ask(WIKI)).status, 401);
    const { url } = await visitor.walk(visitor.gate(PAGE));
    assertMatch(url.hash, /^#\/sign-in\//);
  }
});

Deno.test("an unreachable issuer grants no access, and ends it only after the grace period, with 503", async () => {
  await using provider = await start({ graceMs: 60_000 });
  const { visitor, person } = await Visitor.logIn(provider, PAGE);
  provider.issuerIsDown = true;
  provider.skewMs = 58_000;
  const { status, headers } = await visitor.ask(WIKI);
  assertEquals([status, headers.get("remote-user")], [200, person.did]);
  const { refusal } = await visitor.walk(visitor.gate(`http://${OPS}/`));
  assertMatch(refusal ?? "", /^503 .*"code":"fetch_status"/s);
  assertEquals((await visitor.ask(OPS)).status, 401);
  provider.skewMs = 66_000;
  const late = await visitor.at(WIKI).ask(`${provider.origin}/forward-auth`, {
    headers: { "x-forwarded-host": WIKI },
  });
  assertEquals([late.status, late.body.code], [503, "fetch_status"]);
  assertEquals(late.headers.get("retry-after"), "5");
  provider.issuerIsDown = false;
  provider.skewMs = 76_000;
  assertEquals((await visitor.ask(WIKI)).status, 200);
});

Deno.test("a logout ends access to every host", async () => {
  await using provider = await start();
  const { visitor } = await Visitor.logIn(provider, PAGE);
  const logout = `${provider.origin}/oidc/logout`;
  const { fields } = await visitor.login.form(logout);
  await statusOf(visitor.login.send(logout, {
    method: "POST",
    body: new URLSearchParams(fields),
  }));
  assertEquals((await visitor.ask(WIKI)).status, 401);
});

Deno.test("with ?redirect, pages are redirected to the login and scripts get 401", async () => {
  await using provider = await start();
  const ask = async (given: Record<string, string>) => {
    const { status, headers } = await new Browser().ask(
      `${provider.origin}/forward-auth?redirect`,
      { headers: { "x-forwarded-host": WIKI, ...given } },
    );
    return [status, headers.get("location")];
  };
  assertEquals(await ask({ "x-forwarded-uri": "/a?b=c&d" }), [
    303,
    `${provider.origin}/gate/login?rd=${
      encodeURIComponent(`http://${WIKI}/a?b=c&d`)
    }`,
  ]);
  assertEquals(await ask({ "x-forwarded-method": "POST" }), [401, null]);
  assertEquals(await ask({ "sec-fetch-mode": "cors" }), [401, null]);
  for (
    const [uri, host] of [
      ["@evil.example/", WIKI],
      ["//evil.example/", WIKI],
      ["/", "evil.example"],
      ["/", `${WIKI}, evil.example`],
    ] as const
  ) {
    const [, location] = await ask({
      "x-forwarded-uri": uri,
      "x-forwarded-host": host,
    });
    if (location === null) continue;
    const rd = new URL(String(location)).searchParams.get("rd") ?? "";
    assertEquals(new URL(rd).host, WIKI, uri);
  }
});

Deno.test("the page names the host, and declining does not redirect to it", async () => {
  await using provider = await start();
  const visitor = new Visitor(provider);
  const { url } = await visitor.walk(visitor.gate(PAGE));
  const id = url.hash.split("/").pop() ?? "";
  const { client } = await visitor.login.interaction(provider.origin, id);
  assertEquals(client, { client_id: `gate:${WIKI}`, client_name: WIKI });
  const { body } = await visitor.login.answer(provider.origin, id, {
    declined: true,
  });
  assertEquals(body, { redirect_to: `${provider.origin}/` });
});

Deno.test("rejects a --gate-host that is not a host", async () => {
  const wrong = [
    ...["https://wiki.example", "wiki.example/", "a b", "", "*.example"],
    ...["wiki.example:99999", "a@wiki.example"],
  ];
  for (const name of wrong) {
    await expectSigError(
      () => createGateHosts([name], "https://login.example"),
      "invalid_request",
      "it must be a host name, with a port at most",
    );
  }
});

Deno.test("a host is found in any spelling, and only at its port", () => {
  const { find } = createGateHosts(["Wiki.example"], "https://login.example");
  const spellings = ["wiki.example", "WIKI.example", "wiki.example:443"];
  for (const name of spellings) assertEquals(find(name)?.host, WIKI, name);
  const others = ["wiki.example:8443", "wiki.example.", "wiki.example/x", ""];
  for (const name of others) assertEquals(find(name), undefined, name);
});

/** Returns the headers as an application reads them that decodes UTF-8. */
function headersOf(roles: readonly string[], name: string) {
  const relationship = {
    ...{ issuer: "did:web:acme.example", relationship_id: "r1" },
    ...{ type: "employee", roles, sequence: 1 },
  };
  const subject = "did:web:ada.example";
  const headers = new Headers(
    identityHeaders(subject, relationship, () => name),
  );
  return ["remote-groups", "remote-name"].map((name) => {
    const text = headers.get(name) ?? "";
    const bytes = Uint8Array.from(text, (each) => each.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  });
}

Deno.test("attack: omits a role that a header would change into another role", () => {
  for (
    const role of [
      ...["ops ", "ops\t", "ops\r\n", "\u0000ops", "op\u0000s", "ops\u007f"],
      ...["ops\u00a0", "ops\u0085", "ops,role:admin", "ops\ud800", "ops\ufeff"],
    ]
  ) {
    assertEquals(
      headersOf([role, "dev"], "Ada"),
      ["employee,role:dev", "Ada"],
      JSON.stringify(role),
    );
  }
});

Deno.test("names and roles arrive unchanged, whichever byte they end with", () => {
  assertEquals(
    headersOf(["città"], " Š\u0085\r\nRemote-User: root à "),
    ["employee,role:città", "Š   Remote-User: root à"],
  );
});
