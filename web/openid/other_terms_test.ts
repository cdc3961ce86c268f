import { createMemoryStore } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import { readClients } from "./clients.ts";
import { Receiver } from "./testdata/fleet.ts";
import {
  assertRefused,
  type Browser,
  REFUSED,
  TestProvider,
  type TestProviderOptions,
  usualClients,
} from "./testdata/test_provider.ts";

// promise: Servers on one host or store are separate; a session of weaker
//   requirements is invalid.

/** Logs a person in, then restarts the server with the same store. */
async function restart(
  again: (before: TestProvider) => TestProviderOptions,
  work: (
    after: TestProvider,
    browser: Browser,
    tokens: Awaited<ReturnType<Browser["tokens"]>>,
  ) => Promise<void>,
): Promise<void> {
  const store = createMemoryStore();
  const settings = { gateHosts: ["app.example"] };
  await using before = await TestProvider.start({ store, settings });
  const { browser, ...tokens } = await before.logIn();
  const { web, ...others } = again(before);
  await using after = await TestProvider.start({
    ...{ store, settings, ...others },
    web: { audiences: [before.origin], ...web },
  });
  after.issuerIsDown = true;
  await work(after, browser, tokens);
}

/** Returns the status of forward auth on the login's own host. */
async function askAsProxy({ origin }: TestProvider, browser: Browser) {
  const discovery = `${origin}/.well-known/openid-configuration`;
  const { host } = new URL((await browser.ask(discovery)).body.issuer);
  const headers = { "x-forwarded-host": host };
  return (await browser.ask(`${origin}/forward-auth`, { headers })).status;
}

Deno.test("a session of another issuer is rejected, even while the current issuer fails", () =>
  restart(() => ({}), async (after, browser, tokens) => {
    assertRefused(await after.userinfo(tokens.access_token), REFUSED.token);
    assertEquals(await browser.silentError(after), "login_required");
    assertEquals(await askAsProxy(after, browser), 401);
    const answer = await after.refresh(tokens.refresh_token);
    assertRefused(answer, REFUSED.grant);
    assertEquals(answer.body.error_description, "the session has ended");
  }));

Deno.test("a session with fewer requirements is rejected; one with more continues", async () => {
  const require = ["relationship=employee", "role=ops"];
  await restart(
    (like) => ({ like, web: { require } }),
    async (after, browser, tokens) => {
      assertEquals((await after.userinfo(tokens.access_token)).status, 401);
      assertEquals(await browser.silentError(after), "login_required");
    },
  );
  await restart((like) => ({ like }), async (after, browser, tokens) => {
    assertEquals((await after.userinfo(tokens.access_token)).status, 200);
    assertEquals(await askAsProxy(after, browser), 200);
  });
});

Deno.test("the watch ends sessions with other conditions and notifies their applications, not those of other logins", async () => {
  await using receiver = new Receiver();
  const store = createMemoryStore();
  await using before = await TestProvider.start({ store, receiver });
  const { person } = await before.logIn();
  // This provider only shares the store.
  await using neighbour = await TestProvider.start({ store, receiver });
  const looked = (at: TestProvider) => at.watch();
  assertEquals(await looked(neighbour), { looked: 0, unanswered: 0 });
  await using after = await TestProvider.start({
    ...{ store, receiver },
    web: { audiences: [before.origin] },
  });
  after.issuerIsDown = true;
  assertEquals(await looked(after), { looked: 1, unanswered: 0 });
  assertEquals(await after.deliver(), 1);
  assertEquals(receiver.subjects, [person.did]);
});

Deno.test("a login that shares the store does not deliver another login's notifications", async () => {
  await using receiver = new Receiver();
  const store = createMemoryStore();
  await using provider = await TestProvider.start({ store, receiver });
  const { person, relationship } = await provider.logIn();
  await provider.demo.revoke(relationship);
  await provider.watch();
  // Only the first of the two knows the application's logout address.
  await using one = await TestProvider.start({ store, receiver });
  await using other = await TestProvider.start({ store });
  assertEquals(await one.deliver(), 0);
  assertEquals(await other.deliver(), 0);
  assertEquals(receiver.subjects, []);
  assertEquals(await provider.deliver(), 1);
  assertEquals(receiver.subjects, [person.did]);
});

Deno.test("an application with new requirements gets nothing while the issuer fails", async () => {
  const entries = await usualClients();
  const read = () => readClients(JSON.stringify({ clients: entries }));
  let clients = read();
  await using provider = await TestProvider.start({
    settings: { clients: () => clients },
  });
  const { access_token } = await provider.logIn();
  provider.issuerIsDown = true;
  assertEquals((await provider.userinfo(access_token)).status, 200);
  entries[0]!.require = ["role=ops"];
  clients = read();
  assertRefused(await provider.userinfo(access_token), [
    503,
    "temporarily_unavailable",
  ]);
});
