import { assertEquals } from "@std/assert";
import { readClients } from "./clients.ts";
import { Receiver } from "./testdata/fleet.ts";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import {
  Browser,
  clientsWithLogout,
  TestProvider,
  usualClients,
} from "./testdata/test_provider.ts";

Deno.test("max_age=0 always requires a login, and a clock that is set back does not make a login recent", async () => {
  await using provider = await TestProvider.start();
  const { person, browser } = await provider.employ();
  // Sets the clock to the full second of the login.
  const { now } = Date;
  const second = Math.floor(now() / 1000) * 1000;
  const at = (ms: number) => provider.skewMs = second + ms - now();
  at(0);
  await browser.tokens(provider, person);
  const asks = async (max_age: string) =>
    (await browser.follow(await provider.authorizeUrl({ max_age }))).hash !==
      "";
  at(0);
  assertEquals(await asks("0"), true);
  assertEquals(await asks("100"), false);
  at(101_000);
  assertEquals(await asks("100"), true);
  // A small clock difference of replicas is tolerated.
  at(-30_000);
  assertEquals([await asks("0"), await asks("100")], [true, false]);
  at(-3_600_000);
  assertEquals([await asks("0"), await asks("100")], [true, true]);
  // A code from before the clock change can still be used once.
  at(0);
  const url = await provider.authorizeUrl();
  const code = await browser.codeAt(url);
  at(-3_600_000);
  assertEquals((await provider.redeem(code)).status, 200);
  assertEquals((await provider.redeem(code)).status, 400);
});

Deno.test("does not follow redirects of a logout endpoint", async () => {
  await using inside = new Receiver();
  let asked = 0;
  await using outside = serveLoopback(() => {
    asked++;
    const headers = { location: inside.uri };
    return new Response(null, { status: 307, headers });
  });
  const clients = await clientsWithLogout(`${outside.origin}/logout`);
  await using provider = await TestProvider.start({ clients });
  const { relationship } = await provider.logIn();
  await provider.demo.revoke(relationship);
  await provider.watch();
  assertEquals(await provider.deliver(), 0);
  assertEquals([asked, inside.subjects], [1, []]);
});

Deno.test("rejects a request that is too long for the page's address", async (t) => {
  await using provider = await TestProvider.start();
  const did = `did:web:${"a".repeat(200)}.example`;
  const longest = { state: "s".repeat(1_000), nonce: "n".repeat(300) };
  await new Browser().begin(
    await provider.authorizeUrl({ ...longest, login_hint: did }),
  );
  const wide = { state: "\u4e2d".repeat(1_500), nonce: "\u4e2d".repeat(1_000) };
  const refused: Record<string, Record<string, string>> = {
    "more than the longest": { state: "s".repeat(2_048) },
    // Without a page too, where nothing has to fit into an address.
    "a long state": { state: "s".repeat(2_049), prompt: "none" },
    "control characters": { state: "\u0001".repeat(2_048) },
    "wide characters": wide,
    "a long hint": { login_hint: `did:web:${"a".repeat(4_080)}` },
  };
  for (const [what, changes] of Object.entries(refused)) {
    await t.step(what, async () => {
      const url = await provider.authorizeUrl(changes);
      const { searchParams } = await new Browser().follow(url);
      assertEquals(searchParams.get("error"), "invalid_request");
    });
  }
});

Deno.test("a login with fewer scopes does not grant scopes that were declined before", async () => {
  await using provider = await TestProvider.start();
  const { person, browser } = await provider.employ();
  const signIn = async (scope: string, granted = scope) => {
    const url = await provider.authorizeUrl({ scope, prompt: "login" });
    await browser.signIn(provider, person, url, { scope: granted });
  };
  const silently = async () => {
    const { searchParams } = await browser.follow(
      await provider.authorizeUrl({ prompt: "none" }),
    );
    const code = searchParams.get("code");
    return code === null
      ? searchParams.get("error")
      : (await provider.redeem(code)).body.scope;
  };
  await signIn("openid");
  assertEquals(await silently(), "consent_required");
  await signIn("openid profile groups", "openid profile");
  assertEquals(await silently(), "openid profile");
  await signIn("openid");
  assertEquals(await silently(), "openid profile");
  await signIn("openid groups");
  assertEquals(await silently(), "openid profile groups");
});

Deno.test("no code goes to a redirect_uri that has been removed in the meantime", async () => {
  const before = readClients(
    JSON.stringify({ clients: await usualClients() }),
  );
  let clients = before;
  await using provider = await TestProvider.start({
    settings: { clients: () => clients },
  });
  const { person, browser } = await provider.employ();
  const { origin } = provider;
  const url = await provider.authorizeUrl();
  const { id, attestation } = await browser.sign(provider, person, url);
  const redirect_uris = ["https://app.example/new"];
  const app = { ...before.get("app")!, redirect_uris };
  clients = new Map(before).set("app", app);
  for (const sent of [{ attestation }, { declined: true }]) {
    const { status, body } = await browser.answer(origin, id, sent);
    assertEquals([status, body.code, body.redirect_to, body.detail], [
      ...[404, "not_found", undefined],
      "Cannot sign in: this request is unknown in this browser, or has expired",
    ]);
  }
});
